# The R runner: `Rscript --vanilla main.R FD`.
#
# This file puts the runner in place and ends. R goes on to read its console, which is the runner's
# then (console.c): R's own top level evaluates the steps.
local({
    words <- commandArgs()
    script <- sub("^--file=", "", grep("^--file=", words, value = TRUE)[1L])
    here <- dirname(script)
    channel <- as.integer(words[match("--args", words) + 1L])

    # Nothing that the code defines or attaches is between the runner's functions and base R.
    runner <- new.env(parent = baseenv())
    library <- dyn.load(file.path(here, "host.so"))
    names <- c("console_open", "console_enter", "console_leave", "console_done", "console_arm",
               "console_disarm", "console_check", "console_code", "console_fault", "console_send",
               "console_capture", "console_captured", "commands_run", "commands_hand_over",
               "json_strings", "base64_file")
    native <- lapply(paste0("stepbox_", names), getNativeSymbolInfo, library)
    names(native) <- sub("^(console|commands)_", "", names)
    runner$native <- native
    for (name in c("json", "html", "values", "errors", "plots", "commands", "steps"))
        sys.source(file.path(here, paste0(name, ".R")), runner, keep.source = FALSE)

    for (category in c("LC_CTYPE", "LC_COLLATE", "LC_TIME", "LC_MESSAGES"))
        if (!grepl("UTF-?8", Sys.getlocale(category), ignore.case = TRUE))
            suppressWarnings(Sys.setlocale(category, "C.UTF-8"))
    options(pager = runner$value_pager)
    runner$commands_install()
    runner$plots_install()
    lockEnvironment(runner, bindings = TRUE)

    # R evaluates lines in the global environment, where the code may change everything. Base has a
    # function that R calls at its start alone: its name is found from anywhere.
    unlockBinding(".First.sys", baseenv())
    assign(".First.sys", runner$steps_next, envir = baseenv())
    lockBinding(".First.sys", baseenv())
    invisible(.Call(native$open, channel, ".First.sys()"))
})
