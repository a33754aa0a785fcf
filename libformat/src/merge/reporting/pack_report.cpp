// Gathers reports of ranks (see merge/reporting/pack_report.h).
#include "merge/reporting/pack_report.h"

#include <algorithm>

#include "parallel/message_codec.h"
#include "parallel/status_bytes.h"

namespace nmb {

namespace {

std::vector<std::byte> encode(const std::vector<FoundConflict>& conflicts, const PackReport& report,
                              const Status& failure) {
  MessageWriter out;
  out.put_bytes(status_bytes(failure));
  out.put(report.inputs);
  out.put(report.bytes_in);
  out.put<std::uint64_t>(conflicts.size());
  for (const auto& [occurrence, conflict] : conflicts) {
    out.put(occurrence);
    out.put(conflict.kind);
    for (const std::string* text : {&conflict.object, &conflict.first_file, &conflict.second_file,
                                    &conflict.found, &conflict.expected})
      out.put_text(*text);
  }
  out.put<std::uint64_t>(report.unreadable.size());
  for (const Status& status : report.unreadable) out.put_bytes(status_bytes(status));
  out.put<std::uint64_t>(report.sources.size());
  for (const PackSource& source : report.sources) {
    out.put(source.index);
    out.put(source.bytes);
    out.put<std::uint64_t>(source.provenance.size());
    for (const std::string& text : source.provenance) out.put_text(text);
  }
  out.put<std::uint64_t>(report.losses.size());
  for (const PackLoss& loss : report.losses) {
    out.put(loss.input);
    out.put_text(loss.object);
    out.put_text(loss.text);
    out.put(static_cast<std::uint8_t>(loss.kind));
    out.put(loss.blocks);
  }
  for (const std::string& warning : report.warnings) out.put_text(warning);
  return out.take();
}

}  // namespace

Status gather_report(Communicator& ranks, std::vector<FoundConflict> conflicts, PackReport* report,
                     Status* failure) {
  std::vector<Communicator::Parcel> parcels;
  if (ranks.rank() != 0) parcels.push_back({0, encode(conflicts, *report, *failure)});
  NMB_ASSIGN(const std::vector<Message> arrived, ranks.exchange(std::move(parcels)));
  for (const Message& message : arrived) {
    MessageReader in(message.bytes());
    const Status other = status_from(in.get_bytes());
    if (failure->ok()) *failure = other;
    report->inputs += in.get<std::uint64_t>();
    report->bytes_in += in.get<std::uint64_t>();
    for (auto left = in.get<std::uint64_t>(); left > 0; --left) {
      FoundConflict& found = conflicts.emplace_back();
      found.occurrence = in.get<Occurrence>();
      PackConflict& conflict = found.conflict;
      conflict.kind = in.get<ConflictKind>();
      for (std::string* text : {&conflict.object, &conflict.first_file, &conflict.second_file,
                                &conflict.found, &conflict.expected})
        *text = in.get_text();
    }
    for (auto left = in.get<std::uint64_t>(); left > 0; --left)
      report->unreadable.push_back(status_from(in.get_bytes()));
    for (auto left = in.get<std::uint64_t>(); left > 0; --left) {
      PackSource& source = report->sources.emplace_back();
      source.index = in.get<std::uint64_t>();
      source.bytes = in.get<std::uint64_t>();
      for (auto texts = in.get<std::uint64_t>(); texts > 0; --texts)
        source.provenance.emplace_back(in.get_text());
    }
    for (auto left = in.get<std::uint64_t>(); left > 0; --left) {
      PackLoss& loss = report->losses.emplace_back();
      loss.input = in.get<std::uint64_t>();
      loss.object = in.get_text();
      loss.text = in.get_text();
      loss.kind = static_cast<PackLoss::Kind>(in.get<std::uint8_t>());
      loss.blocks = in.get<std::uint64_t>();
    }
    while (!in.at_end()) report->warnings.emplace_back(in.get_text());
  }
  if (ranks.rank() != 0) return {};
  std::stable_sort(conflicts.begin(), conflicts.end(),
                   [](const auto& a, const auto& b) { return a.occurrence < b.occurrence; });
  std::ranges::sort(report->sources, {}, &PackSource::index);
  std::ranges::stable_sort(report->losses, {}, &PackLoss::input);
  for (FoundConflict& found : conflicts) report->conflicts.push_back(std::move(found.conflict));
  return {};
}

Status verdict(const PackReport& report, const PackOptions& options) {
  for (const Status& status : report.unreadable)
    if (status.code() != Code::kDamaged) return status;
  if (!report.unreadable.empty()) return report.unreadable.front();
  const auto conflict = [&](std::size_t count, const char* thing, const char* more) {
    return Status(Code::kConflict, options.output, kNoOffset, "",
                  std::to_string(count) + " " + thing + (count == 1 ? "" : "s") + more +
                      "; nothing was written");
  };
  if (!report.conflicts.empty()) return conflict(report.conflicts.size(), "conflict", "");
  if (options.refuse_losses && !report.losses.empty())
    return conflict(report.losses.size(), "thing", " that the output cannot keep");
  const std::size_t warnings = report.warnings.size() + report.losses.size();
  if (options.strict && warnings > 0) return conflict(warnings, "warning", " with --strict");
  return {};
}

std::string PackConflict::text() const {
  std::string out = std::string(conflict_name(kind)) + " " + object + ": found " + found;
  if (!expected.empty()) out += ", expected " + expected;
  out += ": " + first_file;
  if (!second_file.empty()) out += " and " + second_file;
  return out;
}

}  // namespace nmb
