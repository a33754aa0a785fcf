// What the help of subcommands with patterns says of them.
#pragma once

namespace nmb::tools {

inline constexpr const char* kPatternHelp =
    "A GLOB matches whole names: ? is one character and * any number of them, but no \"/\"; ** is "
    "any number\n"
    "of any characters, **/ also none; [a-z] is a set, [!a-z] its complement; \\ takes the next "
    "character as\n"
    "it is. With -e it is a regular expression (PCRE2) that may match anywhere in a name.";

}  // namespace nmb::tools
