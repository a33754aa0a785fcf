#include "files_report.h"

#include <fmt/format.h>

#include <vector>

#include "common/printing/json_document.h"
#include "common/printing/units.h"
#include "model/text.h"

namespace nmb::tools {
namespace {

class TextReport final : public FilesReport {
 public:
  TextReport(Output& out, const ReportOptions& options) : out_(out), options_(options) {}

  void begin(VerifyLevel level) override { level_ = level; }
  void begin_file(const std::string& file) override { file_ = file; }
  void report(Finding finding) override {
    if (finding.severity == Severity::kUnsupported) return;  // a diagnostic reports it
    const bool warning = finding.severity == Severity::kWarning && !options_.strict;
    if (warning && options_.quiet && finding.rule != "R-SB-13") return;
    line((warning ? "warning: " : "") + with_option_names(finding.text()));
  }
  void damaged_block(const std::string& name) override {
    // The root block has an empty name.
    line("block \"" + (name.empty() ? "/" : name) + "\" is not sound");
  }
  void end_file(const Result<VerifySummary>& result) override {
    if (!result.ok()) return;
    const VerifySummary& s = *result;
    const std::uint64_t findings = s.findings + (options_.strict ? s.warnings : 0);
    if (options_.quiet && findings == 0) return;
    std::string text = findings > 0                                ? "damaged"
                       : s.incomplete.code() == Code::kUnsupported ? "not supported"
                                                                   : "sound";
    if (!s.incomplete.ok()) text += " (not wholly verified)";
    text += ", " + s.kind;
    if (s.kind == "NMB" || s.kind == "HDF5")
      text +=
          fmt::format(", {} of {} blocks sound", s.sound_blocks,
                      std::max(s.recorded_blocks - std::min(s.recorded_blocks, s.unchanged_blocks),
                               s.sound_blocks + s.damaged_blocks));
    if (options_.since > 0)
      text += fmt::format(", {} unchanged since generation {}", s.unchanged_blocks, options_.since);
    if (options_.originals)
      text += fmt::format(", {} of {} sound", s.whole_originals, counted(s.originals, "original"));
    text += fmt::format(", {}, {}, level {}, {} read", counted(findings, "finding"),
                        counted(options_.strict ? 0 : s.warnings, "warning"), level_name(level_),
                        human_bytes(s.bytes_read));
    line(text);
  }
  void end(const VerifyTotals& t) override {
    if (t.files < 2 || (options_.quiet && t.sound == t.files)) return;
    (void)out_.write(fmt::format("{} files: {} sound, {} damaged, {} not verified; {} read\n",
                                 t.files, t.sound, t.damaged, t.not_verified,
                                 human_bytes(t.bytes_read)));
  }

 private:
  void line(const std::string& text) {
    (void)out_.write(printable(file_) + ": " + printable(text) + "\n");
  }

  Output& out_;
  const ReportOptions options_;
  VerifyLevel level_ = VerifyLevel::kData;
  std::string file_;
};

class JsonReport final : public FilesReport {
 public:
  JsonReport(Output& out, const ReportOptions& options) : out_(out), options_(options) {}

  void begin(VerifyLevel level) override {
    write("{\n \"schema\": \"nmb/verify/1\",\n \"level\": \"" + std::string(level_name(level)) +
          "\"," + (options_.since > 0 ? fmt::format("\n \"since\": {},", options_.since) : "") +
          "\n \"files\": [");
  }
  void begin_file(const std::string& file) override {
    write(std::string(files_++ == 0 ? "\n" : ",\n") + "  {\n   \"file\": " + text(file) +
          ",\n   \"findings\": [");
    findings_ = 0;
    damaged_.clear();
  }
  void report(Finding finding) override {
    Json json;
    json["rule"] = finding.rule;
    json["severity"] = severity_name(finding.severity);
    json["offset"] = finding.offset == kNoOffset ? Json(nullptr) : Json(finding.offset);
    json["object"] = json_text(finding.object);
    json["found"] = json_text(finding.found);
    json["expected"] = json_message(finding.expected);
    if (const auto& piece = finding.piece)
      json["piece"] = {{"number", piece->number},
                       {"offset", piece->begin},
                       {"bytes", piece->end - piece->begin},
                       {"variables", json_texts(piece->variables)},
                       {"more_variables", piece->more_variables}};
    write((findings_++ == 0 ? "\n    " : ",\n    ") + json.dump(-1, ' ', true));
  }
  void damaged_block(const std::string& name) override { damaged_.push_back(json_text(name)); }
  void end_file(const Result<VerifySummary>& result) override {
    Json json;
    Status problem = result.status();
    if (result.ok()) {
      const VerifySummary& s = *result;
      problem = s.incomplete;
      json["kind"] = s.kind;
      json["sound"] = s.findings + (options_.strict ? s.warnings : 0) == 0 && problem.ok();
      json["blocks"] = Json{{"recorded", s.recorded_blocks},
                            {"sound", s.sound_blocks},
                            {"damaged", s.damaged_blocks}};
      if (options_.since > 0) json["blocks"]["unchanged"] = s.unchanged_blocks;
      json["damaged_blocks"] = damaged_;
      json["finding_count"] = s.findings + (options_.strict ? s.warnings : 0);
      json["warning_count"] = options_.strict ? 0 : s.warnings;
      if (options_.originals)
        json["originals"] = Json{{"recorded", s.originals}, {"whole", s.whole_originals}};
      json["bytes_read"] = s.bytes_read;
    } else {
      json["kind"] = nullptr;
      json["sound"] = false;
    }
    json["error"] = problem.ok() ? Json(nullptr) : Json(json_message(problem.text()));
    write(findings_ == 0 ? "]" : "\n   ]");
    for (const auto& [key, value] : json.items())
      write(",\n   \"" + key + "\": " + value.dump(-1, ' ', true));
    write("\n  }");
  }
  void end(const VerifyTotals& t) override {
    const Json json{{"files", t.files},          {"sound", t.sound},
                    {"damaged", t.damaged},      {"not_verified", t.not_verified},
                    {"findings", t.findings},    {"warnings", t.warnings},
                    {"bytes_read", t.bytes_read}};
    write(std::string(files_ == 0 ? "]" : "\n ]") + ",\n \"summary\": " + json.dump() + "\n}\n");
  }

 private:
  const char* severity_name(Severity severity) const {
    if (severity == Severity::kUnsupported) return "unsupported";
    return severity == Severity::kWarning && !options_.strict ? "warning" : "finding";
  }
  static std::string text(const std::string& bytes) {
    return Json(json_text(bytes)).dump(-1, ' ', true);
  }
  void write(const std::string& json) { (void)out_.write(json); }

  Output& out_;
  const ReportOptions options_;
  std::uint64_t files_ = 0, findings_ = 0;
  std::vector<std::string> damaged_;
};

}  // namespace

std::string_view level_name(VerifyLevel level) {
  constexpr std::string_view names[] = {"index", "blocks", "data"};
  return names[static_cast<std::size_t>(level)];
}

std::unique_ptr<FilesReport> text_report(Output& out, const ReportOptions& options) {
  return std::make_unique<TextReport>(out, options);
}

std::unique_ptr<FilesReport> json_report(Output& out, const ReportOptions& options) {
  return std::make_unique<JsonReport>(out, options);
}

}  // namespace nmb::tools
