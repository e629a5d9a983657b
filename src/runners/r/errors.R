# Errors as events: class, message, and the calls that led there, without the runner's own.

# skip: frames of the runner below the code's; calls: at the latest error; place: of the
# statement that R itself found fault with, which is no call of those.
errors <- new.env()
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
           identical(calls[[last]][[1L]], quote(.handleSimpleError)))
        last <- last - 1L
    is_warning <- function(call) identical(call[[1L]], quote(.signalSimpleWarning))
    converted <- which(vapply(calls, is_warning, NA))
    if (length(converted)) last <- min(last, converted[1L] - 1L)
    errors$calls <- if (last > errors$skip) calls[seq.int(errors$skip + 1L, last)]
    # What calls handlers stands where the error is; within functions of packages that is nowhere.
    errors$place <- attr(calls[[last + 1L]], "srcref")
}

one_line <- function(text) {
    line <- if (length(text) > 1L) paste(text[1L], "...") else text
    if (nchar(line, "bytes") > error_width) paste(substr(line, 1L, error_width), "...") else line
}

place_text <- function(place) {
    file <- attr(place, "srcfile")$filename
    if (is.null(file)) "" else sprintf("   # %s, line %d", file, place[[1L]])
}

# Of an expression at top level: R does not say where in its loops it is.
span_text <- function(place) {
    last <- place[[3L]]
    if (last == place[[1L]]) place_text(place)
    else sub("line ([0-9]+)$", sprintf("lines \\1 to %d", last), place_text(place))
}

call_text <- function(call)
    paste0(one_line(deparse(call, nlines = 2L, width.cutoff = 120L)),
           place_text(attr(call, "srcref")))

# `place`: of the statement at fault, where it is no call. `top`: of the expression at top level.
traceback_text <- function(calls, place, top) {
    shown <- seq_along(calls)
    half <- error_calls %/% 2L
    if (length(calls) > error_calls) shown <- c(head_of(shown, half), tail_of(shown, half))
    lines <- vapply(calls[shown], call_text, "")
    if (length(calls) && !is.null(top) && is.null(attr(calls[[1L]], "srcref")))
        lines[1L] <- paste0(lines[1L], span_text(top))
    if (!is.null(place)) lines <- c(lines, paste0(one_line(as.character(place)), place_text(place)))
    else if (length(calls) == 0L && !is.null(top))
        lines <- paste0(one_line(as.character(top)), span_text(top))
    if (length(lines) == 0L) return(character())
    lines <- paste0(c(shown, if (length(lines) > length(shown)) length(calls) + 1L), ". ", lines)
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
    lines <- traceback_text(errors$calls, errors$place, step_place())
    errors$calls <- errors$place <- NULL
    error_send(error_name(e), message, paste(c(head, lines), collapse = "\n"))
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
