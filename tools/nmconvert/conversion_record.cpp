#include "nmconvert/conversion_record.h"

#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "common/command_line/exit_code.h"
#include "common/printing/json_fields.h"
#include "model/text.h"

namespace nmb::tools {

namespace {

using Outcome = ConversionRecord::Outcome;

constexpr std::array<std::string_view, 4> kWords{"done", "skipped", "failed", "interrupted"};

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

template <class T>
Json as_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

// The fields that prove a conversion. The keys are those in messages and reports.
template <class Fields>
void proof_fields(Fields& all, ConversionRecord& record) {
  all("input", record.of.input);
  all("output", record.of.output);
  all("to", record.of.to);
  all("extract", record.of.block);
  all("block_by", record.of.block_by);
  all("statistics", record.of.statistics);
  all("options", record.of.options);
  all("losses", record.losses);
  all("originals", record.originals);
  all("digested", record.digested);
  all("bytes_in", record.bytes_in);
  all("modified_in", record.modified_in);
  all("bytes_out", record.bytes_out);
  all("modified_out", record.modified_out);
  all("sha256_in", record.sha256_in);
  all("sha256_out", record.sha256_out);
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

template <class Fields>
void fields(Fields& all, ConversionRecord& record) {
  int outcome = static_cast<int>(record.outcome);
  proof_fields(all, record);
  all("outcome", outcome);
  all("status", record.status);
  all("without_statistics", record.without_statistics);
  all("without_original", record.without_original);
  all("original_bytes", record.original_bytes);
  all("stored_twice", record.stored_twice);
  all("outside", record.outside);
  all("view_note", record.view_note);
  all("kind_note", record.kind_note);
  all("warnings", record.warnings);
  all("not_written", record.not_written);
  all("conflicts", record.conflicts);
  all("seconds", record.seconds);
  if constexpr (Fields::kReceives) record.outcome = static_cast<Outcome>(outcome);
}

// The message is MessagePack, because strings in MessagePack may have any bytes.
std::vector<std::uint8_t> record_message(const ConversionRecord& record) {
  return Json::to_msgpack(json_fields(record, JsonBytes::kRaw));
}

Result<ConversionRecord> record_from(const std::vector<std::uint8_t>& message) {
  ConversionRecord record;
  if (!take_json_fields(Json::from_msgpack(message, true, false), &record, JsonBytes::kRaw))
    return Status(Code::kUsage, "a message of another rank is not a record of a conversion");
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
  JsonIn in(json, JsonBytes::kRaw);
  proof_fields(in, record);
  if (!record.bytes_in || !record.modified_in || !record.bytes_out) return std::nullopt;
  return record;
}

}  // namespace nmb::tools
