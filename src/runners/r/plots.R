# Plots: pages of devices that the runner opens when the code draws without having opened one.
#
# A device stays open from step to step, with its par() and what is on its page. A page is sent when
# the next one begins and at the end of a step, if it has changed since it was sent last. It is
# drawn once more into a file then, from what the device has recorded.

plots <- new.env()
plots$open <- list() # by the file of the device: its size, what was sent last
plots_no_drawing <- c("C_par", "C_layout", "palette", "palette2")

plots_size <- function() {
    number <- function(name, default, most) {
        value <- getOption(name, default)
        if (is.numeric(value) && length(value) == 1L && isTRUE(value > 0)) min(value, most)
        else default
    }
    c(width = number("repr.plot.width", 7, 50), height = number("repr.plot.height", 7, 50),
      res = number("repr.plot.res", 120, 600))
}

plots_png <- function(file, size)
    grDevices::png(file, width = size[["width"]], height = size[["height"]], units = "in",
                   res = size[["res"]], type = "cairo")

# What options(device=) names: R calls it when something is drawn and there is no device.
plots_device <- function(...) {
    file <- tempfile("device", fileext = ".png")
    size <- plots_size()
    plots_png(file, size)
    grDevices::dev.control("enable")
    plots$open[[file]] <- list(size = size)
    invisible()
}

# The file of a device if it is ours.
plots_file <- function(number) {
    file <- if (number > 1L && length(.Devices) >= number) attr(.Devices[[number]], "filepath")
    if (!is.null(file) && !is.null(plots$open[[file]])) file
}

plots_send_picture <- function(text) value_send(list(png = paste0("\"", text, "\"")), FALSE)

# What a page shows, of all that has been recorded: par() and its like change what comes later.
plots_drawing <- function(page)
    Filter(function(entry) {
        routine <- entry[[2L]][[1L]]
        !(is.list(routine) && isTRUE(routine$name %in% plots_no_drawing))
    }, as.list(page[[1L]]))

# Sends the page of the current device, which is ours, if it has changed.
plots_send_page <- function(device) {
    page <- grDevices::recordPlot()
    drawing <- plots_drawing(page)
    if (length(drawing) == 0L || identical(drawing, plots$open[[device]]$drawing)) return()
    plots$open[[device]]$drawing <- drawing
    number <- grDevices::dev.cur()
    file <- tempfile("page", fileext = ".png")
    plots_png(file, plots$open[[device]]$size)
    copy <- grDevices::dev.cur()
    tryCatch(grDevices::replayPlot(page), finally = {
        grDevices::dev.off(copy)
        grDevices::dev.set(number)
    })
    text <- .Call(native$base64_file, file)
    unlink(file)
    if (is.null(text)) return()
    plots$open[[device]]$picture <- text
    plots_send_picture(text)
}

plots_before_page <- function() {
    device <- plots_file(grDevices::dev.cur())
    if (!is.null(device)) plots_send_page(device)
}

# Base graphics tells of each figure, of which a page may have several.
plots_before_figure <- function()
    if (!is.null(plots_file(grDevices::dev.cur())) && graphics::par("page")) plots_before_page()

# A device that the code has closed left its last page in its file.
plots_send_closed <- function() {
    files <- unlist(lapply(seq_along(.Devices), plots_file))
    for (device in setdiff(names(plots$open), files)) {
        text <- .Call(native$base64_file, device)
        if (!is.null(text) && !identical(text, plots$open[[device]]$picture))
            plots_send_picture(text)
        unlink(device)
        plots$open[[device]] <- NULL
    }
}

plots_guarded <- function(code)
    tryCatch(code, error = function(e)
        cat("A plot cannot be shown: ", conditionMessage(e), "\n", sep = "", file = stderr()))

plots_flush <- function() plots_guarded(if (length(plots$open)) {
    current <- grDevices::dev.cur()
    for (number in seq_along(.Devices)) {
        device <- plots_file(number)
        if (is.null(device)) next
        grDevices::dev.set(number)
        plots_send_page(device)
    }
    if (current > 1L) grDevices::dev.set(current)
    plots_send_closed()
})

plots_hook <- function(name, ours)
    if (!any(vapply(getHook(name), identical, NA, ours))) setHook(name, ours)

# The code may have removed the hooks, and may have asked for pictures of another size.
plots_before_expression <- function() {
    plots_hook("before.plot.new", plots_before_figure)
    plots_hook("before.grid.newpage", plots_before_page)
    if (length(plots$open)) plots_guarded({
        plots_send_closed()
        number <- grDevices::dev.cur()
        device <- plots_file(number)
        if (!is.null(device) && !identical(plots$open[[device]]$size, plots_size())) {
            plots_send_page(device)
            grDevices::dev.off(number)
            unlink(device)
            plots$open[[device]] <- NULL
        }
    })
}

plots_install <- function() {
    options(device = plots_device)
    # quit() runs this before it closes the devices.
    reg.finalizer(plots, function(plots) plots_flush(), onexit = TRUE)
}
