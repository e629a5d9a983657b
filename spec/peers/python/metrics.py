"""What a sandbox takes of its host, as the SDK reads it."""

from datetime import datetime, timedelta, timezone

from in_sandbox import in_sandbox

with in_sandbox("metrics") as box:
    before = box.get_metrics()[-1]
    assert before.mem_total > before.mem_used > 0
    assert before.cpu_count >= 1 and 0 <= before.cpu_used_pct <= 100
    box.files.write("big", "x" * (20 << 20))
    now = datetime.now(timezone.utc)
    after = box.get_metrics(start=now - timedelta(minutes=1), end=now + timedelta(minutes=1))[-1]
    assert after.disk_used > before.disk_used + (19 << 20)
    assert after.disk_total == before.disk_total
