// The attributes whose texts name variables (CF and UGRID conventions).
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace nmb {

struct NamingAttribute {
  std::string_view name;
  // Whether the named variables only support the variable that has the attribute, as bounds support
  // a coordinate.
  bool is_support = true;
};

inline constexpr NamingAttribute kNamingAttributes[] = {{"bounds"},
                                                        {"climatology"},
                                                        {"coordinates"},
                                                        {"cell_measures"},
                                                        {"grid_mapping"},
                                                        {"geometry"},
                                                        {"node_coordinates"},
                                                        {"node_count"},
                                                        {"part_node_count"},
                                                        {"interior_ring"},
                                                        {"mesh"},
                                                        {"edge_coordinates"},
                                                        {"face_coordinates"},
                                                        {"face_node_connectivity"},
                                                        {"edge_node_connectivity"},
                                                        {"face_edge_connectivity"},
                                                        {"face_face_connectivity"},
                                                        {"edge_face_connectivity"},
                                                        {"boundary_node_connectivity"},
                                                        {"ancillary_variables", false},
                                                        {"formula_terms", false}};

inline bool names_variables(std::string_view attribute) {
  return std::ranges::find(kNamingAttributes, attribute, &NamingAttribute::name) !=
         std::end(kNamingAttributes);
}

// Visits the words of an attribute's text that may be names of variables. A word that ends with a
// colon, as "area:" in "area: cell", is no name, except in grid_mapping: "crs: x y" names "crs"
// too.
template <class Visit>
void for_each_word(std::string_view attribute, std::string_view text, const Visit& visit) {
  constexpr std::string_view kSpaces(" \t\n\r\0", 5);
  for (std::size_t at = 0; (at = text.find_first_not_of(kSpaces, at)) != text.npos;) {
    std::string_view word = text.substr(at, text.find_first_of(kSpaces, at) - at);
    at += word.size();
    if (attribute == "grid_mapping" && word.ends_with(':')) word.remove_suffix(1);
    visit(word);
  }
}

// Returns the text of an attribute after variables were renamed. new_name(word) returns the new
// name of the variable `word`, or an empty text if no such variable was renamed.
template <class NewName>
std::string with_new_names(std::string_view attribute, std::string_view text,
                           const NewName& new_name) {
  std::string out;
  std::size_t done = 0;
  for_each_word(attribute, text, [&](std::string_view word) {
    const std::string_view name = new_name(word);
    if (name.empty()) return;
    const auto begin = static_cast<std::size_t>(word.data() - text.data());
    out += text.substr(done, begin - done);
    out += name;
    done = begin + word.size();
  });
  return out += text.substr(done);
}

}  // namespace nmb
