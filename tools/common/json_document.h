// JSON documents of the tools: a "schema" key first, keys in a fixed order, exact integers.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "common/output.h"

namespace nmb::tools {

using Json = nlohmann::ordered_json;

// {"schema": "nmb/NAME/1"}. Names from files go in as json_text (nmb/text.h).
inline Json json_document(const std::string& name) {
  return Json{{"schema", "nmb/" + name + "/1"}};
}

enum class JsonLayout : std::uint8_t { kDocument, kLine };

// ASCII: characters beyond are \u escapes, so that a terminal shows any name without harm.
inline Status write_json(Output& out, const Json& json, JsonLayout layout = JsonLayout::kDocument) {
  return out.write(json.dump(layout == JsonLayout::kDocument ? 1 : -1, ' ', true) + "\n");
}

}  // namespace nmb::tools
