"""The SDK's git: repositories inside the sandbox, one of them the others' remote."""

from e2b import CommandExitException, GitUpstreamException
from in_sandbox import fails, in_sandbox

with in_sandbox("git") as box:
    git, files = box.git, box.files
    remote = "/home/user/remote.git"
    git.init(remote, bare=True, initial_branch="main")
    git.configure_user("O'Brien \"Z\" Müller", "user@example.com")
    assert git.get_config("user.name") == "O'Brien \"Z\" Müller"
    assert git.get_config("no.such") is None

    git.init("work", initial_branch="main")
    git.remote_add("work", "origin", remote)
    assert git.remote_get("work", "origin") == remote
    files.write("work/README", "one\n")
    untracked = git.status("work")
    assert untracked.has_untracked and untracked.file_status[0].name == "README"
    git.add("work")
    assert git.status("work").staged_count == 1
    git.commit("work", "first: it's \"done\"\n\nwith a body")
    assert git.status("work").is_clean
    log = box.commands.run('git log -1 --format="%an|%B"', cwd="work").stdout.strip()
    assert log == "O'Brien \"Z\" Müller|first: it's \"done\"\n\nwith a body", log
    git.push("work", remote="origin", branch="main")

    git.clone(remote, path="clone")
    assert files.read("clone/README") == "one\n"
    git.create_branch("clone", "topic")
    files.write("clone/README", "two\n")
    with fails(CommandExitException):
        git.commit("clone", "nothing staged")
    git.add("clone", files=["README"])
    git.commit("clone", "second", author_name="Another", author_email="a@example.com")
    branches = git.branches("clone")
    assert sorted(branches.branches) == ["main", "topic"] and branches.current_branch == "topic"
    git.push("clone", remote="origin", branch="topic")
    git.checkout_branch("clone", "main")
    assert files.read("clone/README") == "one\n"
    git.delete_branch("clone", "topic", force=True)

    git.pull("work", remote="origin", branch="topic")
    assert files.read("work/README") == "two\n"
    files.write("work/README", "three\n")
    git.restore("work", paths=["README"])
    assert files.read("work/README") == "two\n"
    git.reset("work", mode="hard", target="HEAD~1")
    assert files.read("work/README") == "one\n"

    git.init("alone")
    with fails(GitUpstreamException):
        git.pull("alone")
