# Steps: R's top level calls steps_next() for each of their expressions.

step <- new.env()
step$number <- 0L
step$running <- FALSE # an expression is being evaluated; still TRUE when a jump has left it
step$failed <- FALSE # the rest of its expressions is not evaluated

step_parse <- function() {
    step$number <- step$number + 1L
    step$expressions <- list()
    step$at <- 0L
    step$failed <- FALSE
    if (!l10n_info()[["UTF-8"]]) Sys.setlocale("LC_CTYPE", "C.UTF-8")
    code <- .Call(native$code)
    if (is.null(code)) {
        error_send("Error", .Call(native$fault), paste("Error:", .Call(native$fault)))
        return()
    }
    code <- gsub("\r\n?", "\n", code)
    lines <- strsplit(code, "\n", fixed = TRUE)[[1L]]
    file <- srcfilecopy(paste("step", step$number), lines)
    parsed <- tryCatch(parse(text = lines, srcfile = file, keep.source = TRUE), error = identity)
    if (inherits(parsed, "error")) error_report_syntax(parsed) else step$expressions <- parsed
}

# Where in the step's code the expression is that runs.
step_place <- function() {
    places <- attr(step$expressions, "srcref")
    if (step$at > 0L && step$at <= length(places)) places[[step$at]]
}

step_evaluate <- function(expression, is_main) {
    errors$skip <- sys.nframe() + 3L
    .Call(native$arm)
    evaluated <- withVisible(eval(expression, globalenv()))
    .Call(native$check)
    if (evaluated$visible) value_show(evaluated$value, is_main)
    .Call(native$disarm)
    evaluated$value
}

# A condition that would name the runner's call goes on without one, as at R's own top level.
step_on_warning <- function(w) {
    if (is_own_call(conditionCall(w)) && inherits(w, "simpleWarning")) {
        w["call"] <- list(NULL)
        warning(w)
        tryInvokeRestart("muffleWarning")
    }
}

step_guarded <- function(expression, is_main) {
    failed <- function(report) {
        .Call(native$disarm)
        step$failed <- TRUE
        plots_flush()
        report
        NULL
    }
    tryCatch(withCallingHandlers(step_evaluate(expression, is_main), warning = step_on_warning,
                                 error = error_note),
             error = function(e) failed(error_report(e)),
             interrupt = function(e) failed(error_report_interrupt()))
}

step_finish <- function() {
    plots_flush()
    step$expressions <- NULL
    .Call(native$done)
}

steps_next <- function() {
    .Call(native$enter)
    on.exit(.Call(native$leave))
    if (step$running) { # the expression was left by a jump to top level
        step$running <- FALSE
        step$failed <- TRUE
        if (!identical(geterrmessage(), step$last_error)) error_report_unhandled()
    }
    if (is.null(step$expressions)) step_parse()
    value <- NULL
    if (!step$failed && step$at < length(step$expressions)) {
        step$at <- step$at + 1L
        step$running <- TRUE
        step$last_error <- geterrmessage()
        plots_before_expression()
        value <- step_guarded(step$expressions[[step$at]], step$at == length(step$expressions))
        step$running <- FALSE
    }
    if (step$failed || step$at >= length(step$expressions)) step_finish()
    invisible(value)
}
