/* What the control plane and the sandbox's file service say of sandboxes and files. */
#include "address.h"
#include "file_entry.h"
#include "sandbox_info.h"
#include "text.h"

#include "../fuzz.h"

static void read_infos(json_t *root) {
    sb_error error = {0};
    struct sbi_infos *infos = sbi_infos_new(json_incref(root), &error);
    FUZZ_CHECK((infos == NULL) == (error.code != SB_OK));
    for (size_t i = 0; infos && i < infos->count; i++) {
        const sb_info *info = &infos->infos[i];
        FUZZ_CHECK(info->id);
        for (size_t k = 0; k < info->metadata_count; k++)
            FUZZ_CHECK(info->metadata[k].name && info->metadata[k].value);
    }
    sbi_infos_free(infos);
}

static void read_entries(json_t *root) {
    sb_error error = {0};
    struct sbi_entries *entries = sbi_entries_new(json_incref(root), &error);
    FUZZ_CHECK((entries == NULL) == (error.code != SB_OK));
    for (size_t i = 0; entries && i < entries->count; i++) {
        const sb_entry *entry = &entries->entries[i];
        FUZZ_CHECK(entry->name && entry->path);
        FUZZ_CHECK(entry->modified_ns >= 0 && entry->modified_ns < 1000000000);
        FUZZ_CHECK(entry->type >= SB_FILE_OTHER && entry->type <= SB_FILE_SYMLINK);
        for (size_t k = 0; k < entry->metadata_count; k++)
            FUZZ_CHECK(entry->metadata[k].name && entry->metadata[k].value);
    }
    sbi_entries_free(entries);
}

/* Its texts go into host names and headers. */
static void read_address(const json_t *root) {
    sb_error error = {0};
    struct sbi_address address;
    int status = sbi_address_parse(&address, root, &error);
    FUZZ_CHECK((status != 0) == (error.code != SB_OK));
    if (status != 0)
        return;
    FUZZ_CHECK(sbi_is_sandbox_id(address.id));
    const char *const texts[] = {address.domain, address.access_token, address.traffic_token,
                                 address.version};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        FUZZ_CHECK(!texts[i] || (*texts[i] && !strpbrk(texts[i], "\r\n")));
    bool newer = sbi_address_has_version(&address, 0, 5, 7);
    FUZZ_CHECK(!newer || sbi_address_has_version(&address, 0, 4, 0));
    sbi_address_free(&address);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    json_t *root = json_loadb((const char *)bytes, length, 0, NULL);
    if (root) {
        read_infos(root);
        read_entries(root);
        read_address(root);
    }
    json_decref(root);
    return 0;
}
