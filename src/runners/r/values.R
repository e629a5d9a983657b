# What a visible value is told as: as it prints, and for some kinds in other formats too.

value_formats <- function(x) {
    formats <- list()
    if (is.data.frame(x) || is.matrix(x))
        formats$html <- tryCatch(json_string(html_table(x)), error = function(e) NULL)
    if (is.data.frame(x)) {
        if (json_is_small(x))
            formats$data <- tryCatch(json_columns(x), error = function(e) NULL)
    } else if (is.list(x) && !is.object(x) && json_is_small(x)) {
        formats$json <- tryCatch(json_value(x), error = function(e) NULL)
    }
    formats
}

value_send <- function(formats, is_main) {
    if (length(formats) == 0L) return()
    .Call(native$send, paste0("{\"type\": \"result\", ",
                              paste0("\"", names(formats), "\": ", formats, ", ", collapse = ""),
                              "\"extra\": {}, \"is_main_result\": ",
                              if (is_main) "true" else "false", "}"))
}

# As R's top level prints a value: with what is defined in the global environment.
value_print <- function(x) {
    frame <- new.env(parent = globalenv())
    frame$x <- x
    errors$skip <- sys.nframe() + 2L
    if (isS4(x)) {
        frame$show <- methods::show
        eval(quote(show(x)), frame)
    } else {
        frame$print <- print
        eval(quote(print(x)), frame)
    }
}

# What help() and file.show() show is text like any other.
value_pager <- function(files, header, title, delete.file) {
    for (i in seq_along(files)) {
        if (nzchar(header[i])) cat(header[i], "\n", sep = "")
        cat(gsub("_\b", "", readLines(files[i], warn = FALSE), fixed = TRUE), sep = "\n")
    }
    if (delete.file) unlink(files)
}

value_show <- function(x, is_main) {
    if (sink.number() > 0L) return(value_print(x)) # the code has its output elsewhere
    .Call(native$capture)
    value_print(x)
    text <- .Call(native$captured)
    .Call(native$check)
    .Call(native$disarm)
    formats <- value_formats(x)
    if (nzchar(text)) formats <- c(list(text = json_string(text)), formats)
    value_send(formats, is_main)
}
