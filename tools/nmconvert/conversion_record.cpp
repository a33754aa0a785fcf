// Writes and parses records of conversions (see conversion_record.h).
#include "nmconvert/conversion_record.h"

#include <array>
#include <cmath>
#include <concepts>
#include <utility>

#include "common/exit_code.h"
#include "nmb/text.h"

namespace nmb::tools {

namespace {

using Outcome = ConversionRecord::Outcome;

constexpr std::array<std::string_view, 4> kWords{"done", "skipped", "failed", "interrupted"};

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

template <class T>
Json as_json(const T& value) {
  return value;
}
template <class T>
Json as_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

// Reads a JSON value into *out. Returns false if the value does not have the type of *out.
bool read(const Json& json, std::string* out) {
  if (json.is_string()) *out = json.get<std::string>();
  return json.is_string();
}
bool read(const Json& json, double* out) {
  if (json.is_number()) *out = json.get<double>();
  return json.is_number();
}
template <std::integral T>
bool read(const Json& json, T* out) {
  if (json.is_number_integer()) *out = json.get<T>();
  return json.is_number_integer();
}
template <class T>
bool read(const Json& json, std::optional<T>* out) {
  if (!read(json, &out->emplace())) out->reset();
  return out->has_value();
}
bool read(const Json& json, std::vector<std::string>* out) {
  if (!json.is_array()) return false;
  for (const Json& one : json)
    if (!read(one, &out->emplace_back())) out->pop_back();
  return true;
}

// Calls visit(key, member) for each member that proves a conversion. The keys are those in messages
// and reports.
template <class Record, class Visit>
void visit_proof(Record& record, const Visit& visit) {
  visit("input", record.of.input);
  visit("output", record.of.output);
  visit("to", record.of.to);
  visit("extract", record.of.block);
  visit("block_by", record.of.block_by);
  visit("statistics", record.of.statistics);
  visit("options", record.of.options);
  visit("losses", record.losses);
  visit("originals", record.originals);
  visit("digested", record.digested);
  visit("bytes_in", record.bytes_in);
  visit("modified_in", record.modified_in);
  visit("bytes_out", record.bytes_out);
  visit("modified_out", record.modified_out);
  visit("sha256_in", record.sha256_in);
  visit("sha256_out", record.sha256_out);
}

// Calls visit(key, member) for each other member that messages contain without change.
template <class Record, class Visit>
void visit_results(Record& record, const Visit& visit) {
  visit("without_statistics", record.without_statistics);
  visit("without_original", record.without_original);
  visit("original_bytes", record.original_bytes);
  visit("stored_twice", record.stored_twice);
  visit("view_note", record.view_note);
  visit("warnings", record.warnings);
  visit("not_written", record.not_written);
  visit("conflicts", record.conflicts);
  visit("seconds", record.seconds);
}

}  // namespace

std::string_view outcome_word(Outcome outcome) { return kWords[static_cast<std::size_t>(outcome)]; }

Json record_json(const ConversionRecord& record) {
  Json json = json_document(kConversionSchema);
  json["input"] = json_text(record.of.input);
  json["output"] = json_text(record.of.output);
  json["to"] = text_or_null(record.of.to);
  json["extract"] = record.of.block ? Json(json_text(*record.of.block)) : Json();
  json["block_by"] = text_or_null(json_text(record.of.block_by));
  json["statistics"] = record.of.statistics;
  json["options"] = json_text(record.of.options);
  json["status"] = outcome_word(record.outcome);
  json["exit"] = static_cast<int>(exit_of(record.status.code()));
  json["code"] = code_name(record.status.code());
  json["message"] = record.status.ok() ? Json() : json_message(record.status.text());
  std::vector<std::string> warnings = record.warnings;
  warnings.insert(warnings.end(), record.not_written.begin(), record.not_written.end());
  json["warnings"] = json_messages(warnings);
  json["losses"] = json_messages(record.losses);
  json["conflicts"] = json_messages(record.conflicts);
  json["without_statistics"] = record.without_statistics;
  json["originals"] = record.originals;
  json["digested"] = record.digested;
  json["without_original"] = record.without_original;
  json["original_bytes"] = record.original_bytes;
  json["stored_twice"] = record.stored_twice;
  json["view_note"] = text_or_null(json_text(record.view_note));
  json["bytes_in"] = as_json(record.bytes_in);
  json["modified_in"] = as_json(record.modified_in);
  json["bytes_out"] = as_json(record.bytes_out);
  json["modified_out"] = as_json(record.modified_out);
  json["seconds"] = std::round(record.seconds * 1e6) / 1e6;
  json["sha256_in"] = text_or_null(record.sha256_in);
  json["sha256_out"] = text_or_null(record.sha256_out);
  return json;
}

// The message is MessagePack, because strings in MessagePack may have any bytes.
std::vector<std::uint8_t> record_message(const ConversionRecord& record) {
  Json json{{"outcome", static_cast<int>(record.outcome)},
            {"code", static_cast<int>(record.status.code())},
            {"message", record.status.text()}};
  const auto put = [&](const char* key, const auto& value) { json[key] = as_json(value); };
  visit_proof(record, put);
  visit_results(record, put);
  return Json::to_msgpack(json);
}

Result<ConversionRecord> record_from(const std::vector<std::uint8_t>& message) {
  Json json = Json::from_msgpack(message, true, false);
  if (!json.is_object())
    return Status(Code::kUsage, "a message of another rank is not a record of a conversion");
  ConversionRecord record;
  const auto get = [&](const char* key, auto& value) { (void)read(json[key], &value); };
  visit_proof(record, get);
  visit_results(record, get);
  int outcome = static_cast<int>(record.outcome), code = 0;
  std::string text;
  get("outcome", outcome);
  get("code", code);
  get("message", text);
  record.outcome = static_cast<Outcome>(outcome);
  if (code != 0) record.status = Status(static_cast<Code>(code), std::move(text));
  return record;
}

std::optional<ConversionRecord> done_record(std::string_view line) {
  Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || json["schema"] != json_document(kConversionSchema)["schema"] ||
      json["status"] != outcome_word(Outcome::kDone) || !json["input"].is_string() ||
      !json["output"].is_string())
    return std::nullopt;
  ConversionRecord record;
  record.outcome = Outcome::kDone;
  visit_proof(record, [&](const char* key, auto& value) { (void)read(json[key], &value); });
  if (!record.bytes_in || !record.modified_in || !record.bytes_out) return std::nullopt;
  return record;
}

}  // namespace nmb::tools
