# Data frames and matrices as tables of HTML, with at most so many rows and columns.

html_rows <- 60L
html_columns <- 20L

html_escape <- function(x) {
    x <- gsub("&", "&amp;", x, fixed = TRUE)
    x <- gsub("<", "&lt;", x, fixed = TRUE)
    gsub(">", "&gt;", x, fixed = TRUE)
}

# Which of n to show, NA standing for those that are left out.
html_shown <- function(n, most)
    if (n <= most) seq_len(n) else c(seq_len(most %/% 2L), NA, seq.int(n - most %/% 2L + 1L, n))

html_row <- function(cells, tag)
    paste0("<tr>", paste0("<", tag, ">", cells, "</", tag, ">", collapse = ""), "</tr>")


html_table <- function(x) {
    rows <- html_shown(nrow(x), html_rows)
    columns <- html_shown(ncol(x), html_columns)
    wanted <- columns[!is.na(columns)]
    gap <- which(is.na(columns))
    with_gap <- function(cells) if (length(gap)) append(cells, "&#8230;", gap - 1L) else cells
    part <- x[rows[!is.na(rows)], wanted, drop = FALSE]
    text <- if (is.data.frame(x)) {
        as.matrix(as.data.frame(lapply(as.list(part), function(column)
            if (is.list(column)) vapply(column, toString, "", 80L)
            else if (length(dim(column)) == 2L) apply(format(column), 1L, toString)
            else format(column, trim = TRUE, justify = "none")), optional = TRUE,
            stringsAsFactors = FALSE))
    } else format(unclass(part), trim = TRUE, justify = "none")
    text <- matrix(html_escape(enc2utf8(text)), nrow(part), length(wanted))
    row_names <- if (is.data.frame(x) && .row_names_info(x) <= 0L) as.character(rows[!is.na(rows)])
                 else if (is.null(rownames(part))) rep("", nrow(part))
                 else html_escape(enc2utf8(rownames(part)))
    names <- if (is.null(colnames(part))) rep("", length(wanted))
             else html_escape(enc2utf8(colnames(part)))
    lines <- vapply(seq_len(nrow(part)), function(i)
        html_row(c(row_names[i], with_gap(text[i, ])), "td"), "")
    left_out <- which(is.na(rows))
    if (length(left_out))
        lines <- append(lines, html_row(rep("&#8942;", length(columns) + 1L), "td"), left_out - 1L)
    paste(c("<table class=\"dataframe\">", "<thead>", html_row(c("", with_gap(names)), "th"),
            "</thead>", "<tbody>", lines, "</tbody>", "</table>"), collapse = "\n")
}
