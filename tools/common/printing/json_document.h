// JSON documents of the tools. A document begins with the key "schema", has its keys in a fixed
// order, and keeps integers exact.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "common/command_line/option_names.h"
#include "common/printing/output.h"
#include "model/text.h"
#include "wire/block_entry.h"

namespace nmb::tools {

using Json = nlohmann::ordered_json;

// Returns {"schema": "nmb/NAME/1"}. Names from files must be added with json_text() (model/text.h).
inline Json json_document(const std::string& name) {
  return Json{{"schema", "nmb/" + name + "/1"}};
}

// Returns a JSON array of texts from files. `text_of` returns the text of an element, and may be a
// pointer to a member.
template <class List, class TextOf = std::identity>
Json json_texts(const List& list, TextOf text_of = {}) {
  Json texts = Json::array();
  for (const auto& one : list) texts.push_back(json_text(std::invoke(text_of, one)));
  return texts;
}

// Returns a message of the library, with the names of the tools' options.
inline Json json_message(const std::string& text) { return json_text(with_option_names(text)); }
template <class List, class TextOf = std::identity>
Json json_messages(const List& list, TextOf text_of = {}) {
  return json_texts(list,
                    [&](const auto& one) { return with_option_names(std::invoke(text_of, one)); });
}

inline Json totals_json(const Totals& totals) {
  return {{"blocks", totals.blocks},         {"objects", totals.variables},
          {"dimensions", totals.dimensions}, {"attributes", totals.attributes},
          {"records", totals.records},       {"samples", totals.samples}};
}

// Parses a text from an untrusted source. Returns nullopt if the text is not a JSON object, is
// larger than 8 MiB, or is nested deeper than `most_depth`.
inline std::optional<Json> parse_object(std::string_view text, int most_depth) {
  constexpr std::size_t kMostBytes = 8 << 20;
  if (text.size() > kMostBytes) return std::nullopt;
  bool is_deep = false;
  const auto look = [&](int depth, Json::parse_event_t, Json&) {
    is_deep |= depth > most_depth;
    return !is_deep;
  };
  Json json = Json::parse(text, look, false);
  if (is_deep || !json.is_object()) return std::nullopt;
  return json;
}

enum class JsonLayout : std::uint8_t { kDocument, kLine };

// Writes ASCII only: other characters become \u escapes, so that no name can harm a terminal.
inline Status write_json(Output& out, const Json& json, JsonLayout layout = JsonLayout::kDocument) {
  return out.write(json.dump(layout == JsonLayout::kDocument ? 1 : -1, ' ', true) + "\n");
}

}  // namespace nmb::tools
