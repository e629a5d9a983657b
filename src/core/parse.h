/*
 * parse.h - how the parsers of streams answer.
 *
 * Such a parser is given bytes as they come, in pieces of any size, and is asked for the next item
 * until it wants more. It advances *bytes and *left over what it has used, calls nobody, and
 * touches each byte once or twice whatever the pieces are.
 */
#ifndef STEPBOX_CORE_PARSE_H
#define STEPBOX_CORE_PARSE_H

enum sbi_parse {
    SBI_PARSE_MORE, /* all is used, and no item is complete */
    SBI_PARSE_ITEM,
    SBI_PARSE_TOO_LARGE,
    SBI_PARSE_NO_MEMORY
};

#endif
