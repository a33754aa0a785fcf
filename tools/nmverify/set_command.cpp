#include "nmverify/set_command.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "common/options/ranks.h"
#include "common/printing/json_document.h"
#include "common/printing/units.h"
#include "files/files.h"
#include "model/text.h"

namespace nmb::tools {

void SetCommand::offer(CLI::App& app) {
  app.add_flag("--set", is_set_,
               "check whether nmcat would merge the FILEs with the same options; read no more "
               "than nmcat --dry-run reads, and write nothing");
  rules_.offer_mode(app);
  rules_.offer_agreement(app);
  rules_.offer_blocks(app);
}

Status SetCommand::check(const CLI::App& app, bool is_against) {
  if (!is_set_ && !is_against) {
    if (const CLI::Option* const option = rules_.first_given())
      return Status(Code::kUsage, option->get_name() + " needs --set or --against");
    return {};
  }
  if (!is_set_) return rules_.take();
  for (const char* option : {"--level", "--originals", "--rate"})
    if (app.count(option) > 0)
      return Status(Code::kUsage, fmt::format("--set and {} exclude each other", option));
  return rules_.take();
}

Status SetCommand::run(std::vector<std::string> files) {
  options_.inputs = std::move(files);
  options_.external = tool_.options().external;
  options_.strict = tool_.options().strict;
  options_.originals = Originals::kStoreIfPossible;
  options_.outputs = std::make_shared<OutputSet>();  // there is no output
  // The result has the attribute history, as with nmcat.
  if (auto* const join = std::get_if<Join>(&options_.mode)) join->history = "nmcat";
  options_.writer.dry_run = true;
  options_.writer.hdf5_view = Hdf5View::kOff;
  PackReport report;
  bool tells = true;
  const Status status = plan(&report, &tells);
  if (!tells) return status;
  Diagnostics& diagnostics = tool_.diagnostics();
  for (const std::string& warning : report.warnings) diagnostics.warning("", warning);
  for (const PackLoss& loss : report.losses) diagnostics.loss(loss.path, loss.line());
  rules_.report_differing(report, options_.inputs.size(), diagnostics);
  note_archive(tool_, report, options_.inputs);
  report_unreadable(tool_, report);
  report_conflicts(tool_, report, options_.inputs.size());
  NMB_TRY(write_result(report, status));
  return report.unreadable.empty() ? status : Status();
}

// Sets *tells to false in each process that prints no messages.
Status SetCommand::plan(PackReport* report, bool* tells) {
  if (launched_ranks() <= 1) {
    Communicator alone;
    NMB_TRY(gather_files(alone));
  }
  const std::size_t parts = rules_.mode() == "pack" ? options_.inputs.size() : 1;
  return run_on_ranks(tool_, tool_.app(), parts, Needs::kAnyRanks,
                      [&](Communicator& ranks, unsigned threads) {
                        if (launched_ranks() > 1) NMB_TRY(gather_files(ranks));
                        PackOptions options = options_;
                        options.writer.threads = threads;
                        if (ranks.rank() == 0) return pack(options, report, ranks);
                        if (!ranks.shares_memory()) *tells = false;
                        PackReport other;
                        return pack(options, &other, ranks);
                      });
}

// The first process reads the list of files, which may be standard input, and sends the names to
// the others.
Status SetCommand::gather_files(Communicator& ranks) {
  NMB_TRY(ranks.first([&] {
    NMB_TRY(rules_.gather_inputs(tool_.options()));
    return check_options(options_);
  }));
  return send_names(ranks, &options_.inputs);
}

Status SetCommand::write_result(const PackReport& report, const Status& status) {
  const Totals& totals = report.totals;
  if (tool_.options().json) {
    Json json = json_document("set");
    json.update(
        {{"mergeable", status.ok()}, {"inputs", report.inputs}, {"bytes_in", report.bytes_in}});
    json.update(totals_json(totals));
    json.update(agreement_json(report));
    json["losses"] = json_messages(
        report.losses, [](const PackLoss& loss) { return loss.path + ": " + loss.line(); });
    json["errors"] = errors_json(report, status);
    json["warnings"] = json_messages(report.warnings);
    return write_json(tool_.out(), json);
  }
  if (!status.ok() || tool_.options().quiet) return {};
  return tool_.out().write(
      fmt::format("{} can be merged: {}, {}, {} in all\n",
                  counted(report.inputs, report.archive_inputs.empty() ? "file" : "block"),
                  counted(totals.blocks, "block"), counted(totals.variables, "object"),
                  human_bytes(report.bytes_in)));
}

}  // namespace nmb::tools
