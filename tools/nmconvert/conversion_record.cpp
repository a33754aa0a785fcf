// Records of conversions (see conversion_record.h).
#include "nmconvert/conversion_record.h"

#include <array>
#include <cmath>

#include "common/exit_code.h"
#include "nmb/text.h"

namespace nmb::tools {

namespace {

using Outcome = ConversionRecord::Outcome;

constexpr std::array<std::string_view, 4> kWords{"done", "skipped", "failed", "interrupted"};

template <class T>
Json known(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

// Returns the value of a key if it exists and has that type.
template <class T>
std::optional<T> number(const Json& json, const char* key) {
  const auto it = json.find(key);
  if (it == json.end() || !it->is_number_integer()) return std::nullopt;
  return it->get<T>();
}

std::optional<std::string> text(const Json& json, const char* key) {
  const auto it = json.find(key);
  if (it == json.end() || !it->is_string()) return std::nullopt;
  return it->get<std::string>();
}

}  // namespace

std::string_view outcome_word(Outcome outcome) { return kWords[static_cast<std::size_t>(outcome)]; }

Json record_json(const ConversionRecord& record) {
  Json json = json_document(kConversionSchema);
  json["input"] = json_text(record.of.input);
  json["output"] = json_text(record.of.output);
  json["to"] = text_or_null(record.of.to);
  json["extract"] = record.of.block ? Json(json_text(*record.of.block)) : Json();
  json["block_by"] = record.of.block_by.empty() ? Json() : Json(json_text(record.of.block_by));
  json["statistics"] = record.of.statistics;
  json["options"] = json_text(record.of.options);
  json["status"] = outcome_word(record.outcome);
  json["exit"] = static_cast<int>(exit_of(record.status.code()));
  json["code"] = code_name(record.status.code());
  json["message"] = record.status.ok() ? Json() : Json(json_text(record.status.text()));
  json["warnings"] = Json::array();
  for (const std::string& warning : record.warnings) json["warnings"].push_back(json_text(warning));
  json["losses"] = Json::array();
  for (const std::string& loss : record.losses) json["losses"].push_back(json_text(loss));
  json["conflicts"] = Json::array();
  for (const std::string& conflict : record.conflicts)
    json["conflicts"].push_back(json_text(conflict));
  json["without_statistics"] = record.without_statistics;
  json["bytes_in"] = known(record.bytes_in);
  json["modified_in"] = known(record.modified_in);
  json["bytes_out"] = known(record.bytes_out);
  json["modified_out"] = known(record.modified_out);
  json["seconds"] = std::round(record.seconds * 1e6) / 1e6;
  json["sha256_in"] = text_or_null(record.sha256_in);
  json["sha256_out"] = text_or_null(record.sha256_out);
  return json;
}

// MessagePack, because its strings may have any bytes.
std::vector<std::uint8_t> record_message(const ConversionRecord& record) {
  return Json::to_msgpack(Json{{"input", record.of.input},
                               {"output", record.of.output},
                               {"to", record.of.to},
                               {"extract", known(record.of.block)},
                               {"block_by", record.of.block_by},
                               {"statistics", record.of.statistics},
                               {"options", record.of.options},
                               {"without_statistics", record.without_statistics},
                               {"outcome", static_cast<int>(record.outcome)},
                               {"code", static_cast<int>(record.status.code())},
                               {"message", record.status.ok() ? "" : record.status.text()},
                               {"warnings", record.warnings},
                               {"losses", record.losses},
                               {"conflicts", record.conflicts},
                               {"bytes_in", known(record.bytes_in)},
                               {"modified_in", known(record.modified_in)},
                               {"bytes_out", known(record.bytes_out)},
                               {"modified_out", known(record.modified_out)},
                               {"seconds", record.seconds},
                               {"sha256_in", record.sha256_in},
                               {"sha256_out", record.sha256_out}});
}

Result<ConversionRecord> record_from(const std::vector<std::uint8_t>& message) {
  const Json json = Json::from_msgpack(message, true, false);
  if (!json.is_object())
    return Status(Code::kUsage, "a message of another rank is not a record of a conversion");
  ConversionRecord record;
  record.of.input = text(json, "input").value_or("");
  record.of.output = text(json, "output").value_or("");
  record.of.to = text(json, "to").value_or("");
  record.of.block = text(json, "extract");
  record.of.block_by = text(json, "block_by").value_or("");
  record.of.statistics = text(json, "statistics").value_or("none");
  record.of.options = text(json, "options").value_or("");
  record.without_statistics = number<std::uint64_t>(json, "without_statistics").value_or(0);
  record.outcome = static_cast<Outcome>(number<int>(json, "outcome").value_or(2));
  const auto code = static_cast<Code>(number<int>(json, "code").value_or(0));
  if (code != Code::kOk) record.status = Status(code, text(json, "message").value_or(""));
  for (const Json& warning : json["warnings"])
    record.warnings.push_back(warning.get<std::string>());
  for (const Json& loss : json["losses"]) record.losses.push_back(loss.get<std::string>());
  for (const Json& conflict : json["conflicts"])
    record.conflicts.push_back(conflict.get<std::string>());
  record.bytes_in = number<std::uint64_t>(json, "bytes_in");
  record.modified_in = number<std::int64_t>(json, "modified_in");
  record.bytes_out = number<std::uint64_t>(json, "bytes_out");
  record.modified_out = number<std::int64_t>(json, "modified_out");
  record.seconds = json["seconds"].get<double>();
  record.sha256_in = text(json, "sha256_in").value_or("");
  record.sha256_out = text(json, "sha256_out").value_or("");
  return record;
}

std::optional<ConversionRecord> done_record(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || text(json, "schema") != json_document(kConversionSchema)["schema"] ||
      text(json, "status") != outcome_word(Outcome::kDone))
    return std::nullopt;
  ConversionRecord record;
  const std::optional<std::string> input = text(json, "input"), output = text(json, "output");
  record.bytes_in = number<std::uint64_t>(json, "bytes_in");
  record.modified_in = number<std::int64_t>(json, "modified_in");
  record.bytes_out = number<std::uint64_t>(json, "bytes_out");
  record.modified_out = number<std::int64_t>(json, "modified_out");
  if (!input || !output || !record.bytes_in || !record.modified_in || !record.bytes_out)
    return std::nullopt;
  record.of = {*input,
               *output,
               text(json, "to").value_or(""),
               text(json, "extract"),
               text(json, "block_by").value_or(""),
               text(json, "statistics").value_or("none"),
               text(json, "options").value_or("")};
  record.outcome = Outcome::kDone;
  // Reports of older versions have none.
  if (const auto losses = json.find("losses"); losses != json.end() && losses->is_array())
    for (const Json& loss : *losses)
      if (loss.is_string()) record.losses.push_back(loss.get<std::string>());
  record.sha256_in = text(json, "sha256_in").value_or("");
  record.sha256_out = text(json, "sha256_out").value_or("");
  return record;
}

}  // namespace nmb::tools
