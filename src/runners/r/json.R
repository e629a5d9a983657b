# JSON forms of R's values: NULL where a value has none.

json_depth <- 200L
json_bytes <- 16 * 1024^2 # of a value in memory; above, it is not told in this form

json_string <- function(x) .Call(native$json_strings, enc2utf8(x))

json_object <- function(names, members)
    paste0("{", paste0(json_string(names), ": ", members, collapse = ", "), "}")

json_array <- function(members) paste0("[", paste0(members, collapse = ", "), "]")

# Numbers with as many digits as it takes to tell them apart; JSON has no NaN and no infinity.
json_numbers <- function(x) {
    text <- formatC(x, digits = 15L, width = 1L, format = "g")
    inexact <- is.finite(x) & as.numeric(text) != x
    text[inexact] <- formatC(x[inexact], digits = 17L, width = 1L, format = "g")
    text[!is.finite(x)] <- "null"
    text
}

json_times <- function(x) {
    text <- format(x, if (any(as.numeric(x) %% 1 != 0, na.rm = TRUE)) "%Y-%m-%dT%H:%M:%OS3"
                      else "%Y-%m-%dT%H:%M:%S")
    text[is.na(x)] <- NA
    json_string(text)
}

# One JSON text for each element of a vector, NULL for what has no such elements.
json_elements <- function(x) {
    if (is.factor(x)) return(json_string(as.character(x)))
    if (inherits(x, "Date")) return(json_string(format.Date(x, "%Y-%m-%d")))
    if (inherits(x, "POSIXlt")) x <- as.POSIXct(x)
    if (inherits(x, "POSIXct")) return(json_times(x))
    x <- unclass(x)
    switch(typeof(x),
           logical = ifelse(is.na(x), "null", ifelse(x, "true", "false")),
           integer = ifelse(is.na(x), "null", format.default(x, scientific = FALSE, trim = TRUE)),
           double = json_numbers(x),
           complex = , character = json_string(as.character(x)),
           raw = as.character(as.integer(x)),
           NULL)
}

has_names <- function(x)
    !is.null(names(x)) && !anyNA(names(x)) && all(nzchar(names(x))) && !anyDuplicated(names(x))

json_value <- function(x, depth = json_depth) {
    if (is.null(x)) return("null")
    if (depth == 0L) return(NULL)
    if (is.list(x) && !is.object(x)) {
        members <- lapply(x, json_value, depth - 1L)
        if (any(vapply(members, is.null, NA))) return(NULL)
    } else if (is.data.frame(x)) {
        return(json_columns(x, depth - 1L))
    } else {
        members <- if (is.atomic(x)) json_elements(x)
        if (is.null(members)) return(NULL)
        if (length(members) == 1L && is.null(names(x)) && is.null(dim(x))) return(unname(members))
        if (length(members) == 0L) return("[]")
    }
    if (length(members) > 0L && has_names(x)) json_object(names(x), members)
    else json_array(members)
}

# A data frame as its columns. A column that has no JSON form is told as it prints.
json_columns <- function(x, depth = json_depth) {
    if (length(x) == 0L) return("{}")
    columns <- lapply(as.list(x), function(column) {
        members <- if (is.list(column)) lapply(column, json_value, depth - 1L)
                   else json_elements(column)
        if (is.null(members) || is.list(members) && any(vapply(members, is.null, NA)))
            members <- json_string(format(column))
        json_array(members)
    })
    json_object(make.unique(names(x)), columns)
}

json_is_small <- function(x) as.numeric(utils::object.size(x)) <= json_bytes
