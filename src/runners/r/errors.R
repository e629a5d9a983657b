# Errors as events: class, message, and the calls that led there, without the runner's own.

errors <- new.env() # skip: frames of the runner below the code's; calls: at the latest error
error_calls <- 40L  # that are shown, half of them the outermost
error_width <- 300L # bytes of a call that are shown

# Code at top level has no call of its own; here it is in one of the runner's.
is_own_call <- function(call)
    identical(call, quote(eval(expression, globalenv()))) ||
        identical(call, quote(eval(quote(print(x)), frame))) ||
        identical(call, quote(eval(quote(show(x)), frame))) ||
        identical(call[[1L]], quote(withVisible))

error_send <- function(name, value, traceback) {
    text <- json_string(c(name, value, traceback))
    .Call(native$send, paste0("{\"type\": \"error\", \"name\": ", text[1L],
                              ", \"value\": ", text[2L], ", \"traceback\": ", text[3L], "}"))
}

# A calling handler: keeps the calls, which are gone when the error has been caught.
error_note <- function(e) {
    calls <- sys.calls()
    last <- length(calls) - 1L # this function
    while (last > 0L && is.call(calls[[last]]) &&
           (identical(calls[[last]][[1L]], quote(.handleSimpleError)) ||
            identical(calls[[last]][[1L]], quote(h))))
        last <- last - 1L
    is_warning <- function(call) identical(call[[1L]], quote(.signalSimpleWarning))
    converted <- which(vapply(calls, is_warning, NA))
    if (length(converted)) last <- min(last, converted[1L] - 1L)
    errors$calls <- if (last > errors$skip) calls[seq.int(errors$skip + 1L, last)]
}

call_text <- function(call) {
    text <- deparse(call, nlines = 2L, width.cutoff = 120L)
    line <- if (length(text) > 1L) paste(text[1L], "...") else text
    if (nchar(line, "bytes") > error_width) line <- paste(substr(line, 1L, error_width), "...")
    place <- attr(call, "srcref")
    file <- attr(place, "srcfile")$filename
    if (is.null(file)) line else sprintf("%s   # %s, line %d", line, file, place[[1L]])
}

traceback_text <- function(calls) {
    if (length(calls) == 0L) return(character())
    shown <- seq_along(calls)
    half <- error_calls %/% 2L
    if (length(calls) > error_calls) shown <- c(head_of(shown, half), tail_of(shown, half))
    lines <- vapply(shown, function(i) paste0(i, ". ", call_text(calls[[i]])), "")
    if (length(calls) > error_calls) lines <- append(lines, "...", half)
    c("Traceback:", lines)
}

head_of <- function(x, n) x[seq_len(n)]
tail_of <- function(x, n) x[seq.int(length(x) - n + 1L, length(x))]

error_name <- function(e) if (inherits(e, "simpleError")) "Error" else class(e)[1L]

error_report <- function(e) {
    message <- tryCatch(paste(conditionMessage(e), collapse = "\n"),
                        error = function(e) "<conditionMessage() failed>")
    call <- tryCatch(conditionCall(e), error = function(e) NULL)
    head <- if (is.null(call) || is_own_call(call)) paste("Error:", message)
            else paste0("Error in ", call_text(`attr<-`(call, "srcref", NULL)), ": ", message)
    calls <- errors$calls
    errors$calls <- NULL
    error_send(error_name(e), message, paste(c(head, traceback_text(calls)), collapse = "\n"))
}

# An error that no handler got (R takes them away when its stack is full); R has printed it.
error_report_unhandled <- function() {
    message <- sub("\n$", "", sub("^Error[^:]*: ", "", geterrmessage()))
    error_send("Error", message, paste("Error:", message))
}

error_report_interrupt <- function() error_send("KeyboardInterrupt", "", "")

# What parse() says begins with FILE:LINE:COLUMN, and shows the place.
error_report_syntax <- function(e) {
    message <- conditionMessage(e)
    where <- regmatches(message, regexec("^[^:]*:([0-9]+):([0-9]+): ([^\n]*)", message))[[1L]]
    value <- if (length(where) == 4L)
        sprintf("%s (line %s, column %s)", where[4L], where[2L], where[3L])
    else message
    error_send("parseError", value, paste("Error:", message))
}
