// nmconvert (see convert_command.h).
#include "nmconvert/convert_command.h"

#include <filesystem>
#include <map>

#include "common/interrupt.h"
#include "common/ranks.h"
#include "nmb/file_kind.h"
#include "nmb/file_source.h"
#include "nmb/pack.h"
#include "nmb/reader.h"
#include "nmb/text.h"

namespace nmb::tools {

ConvertCommand::ConvertCommand(Tool& tool) : tool_(tool) {
  CLI::App& app = tool.app();
  app.add_option("input", input_, "the file to convert")->type_name("INPUT")->required();
  app.add_option("output", output_, "the file to write")->type_name("OUTPUT")->required();
  app.add_option("--to", to_, "kind of OUTPUT: nmb, cdf1, cdf2 or cdf5 (default: by its ending)")
      ->type_name("KIND")
      ->check(one_of({"nmb", "cdf1", "cdf2", "cdf5"}));
  app.add_option("--extract", block_, "of an NMB file, the block to write as a classic file")
      ->type_name("BLOCK");
  app.add_flag("-f,--force", force_, "replace an existing OUTPUT");
  app.add_flag("--no-sync", no_sync_, "do not wait until OUTPUT is on the device");
  app.add_flag("--no-check", no_check_, "do not read the result back");
  tool.offer_threads(app);
  tool.offer_strict(app);
}

ExtractOptions ConvertCommand::extract_options(std::optional<Kind> kind, unsigned threads) const {
  ExtractOptions options;
  options.kind = kind;
  options.overwrite = force_;
  options.sync = !no_sync_;
  options.check = !no_check_;
  options.threads = threads;
  options.cancel = catch_interrupts();
  return options;
}

Status ConvertCommand::execute() {
  static const std::map<std::string, Kind> kKinds{
      {"cdf1", Kind::kCdf1}, {"cdf2", Kind::kCdf2}, {"cdf5", Kind::kCdf5}};
  std::error_code none;
  if (std::filesystem::equivalent(input_, output_, none))
    return Status(Code::kExists, output_, kNoOffset, "",
                  "found one file as INPUT and OUTPUT, expected two");
  const bool nmb_out = to_.empty() ? output_.ends_with(".nmb") : to_ == "nmb";
  if (to_.empty() && !nmb_out && !output_.ends_with(".nc") && !output_.ends_with(".cdf"))
    return Status(Code::kUsage, output_, kNoOffset, "",
                  "found no ending that tells the kind, expected .nmb or .nc, or --to");
  std::optional<Kind> kind;
  if (auto it = kKinds.find(to_); it != kKinds.end()) kind = it->second;
  if (block_ && nmb_out)
    return Status(Code::kUsage, "found --extract with an NMB output, expected a classic one");
  return run_on_ranks(tool_, tool_.app(), 1, Needs::kAnyRanks,
                      [&](Communicator& ranks, unsigned threads) -> Status {
                        if (nmb_out) return to_nmb(ranks, threads);
                        NMB_ASSIGN(std::unique_ptr<FileSource> file, FileSource::open(input_));
                        NMB_ASSIGN(FileKind input, kind_of(*file));
                        if (input == FileKind::kNmb) return from_nmb(kind, ranks, threads);
                        if (!is_classic(input)) return refused_kind(*file, input);
                        return from_classic(kind, ranks, threads);
                      });
}

Status ConvertCommand::to_nmb(Communicator& ranks, unsigned threads) {
  PackOptions options;
  options.inputs = {input_};
  options.output = output_;
  options.block_name = "{group}";  // a classic file is the root block, an NMB file keeps its names
  options.writer.overwrite = force_;
  options.writer.sync = !no_sync_;
  options.writer.threads = threads;
  options.writer.cancel = catch_interrupts();
  options.check = !no_check_;
  options.strict = tool_.options().strict;
  PackReport report;
  const Status status = pack(options, &report, ranks);
  for (const std::string& warning : report.warnings) tool_.diagnostics().warning("", warning);
  return status;
}

Status ConvertCommand::from_nmb(std::optional<Kind> kind, Communicator& ranks, unsigned threads) {
  NMB_ASSIGN(std::unique_ptr<Reader> reader, Reader::open(input_, {.verify_values = true}));
  for (const Finding& warning : reader->warnings()) tool_.diagnostics().warning(input_, warning);
  if (tool_.options().strict && tool_.diagnostics().exit() != Exit::kDone) return {};
  std::optional<BlockEntry> entry;
  if (block_) {
    NMB_ASSIGN(entry, reader->find(*block_));
    if (!entry)
      return Status(Code::kNotFound, input_, kNoOffset, "",
                    "found no block \"" + printable(*block_) + "\"");
  } else if (reader->totals().blocks == 1) {
    NMB_TRY(reader->for_each_entry("", [&](const BlockEntry& only) -> Result<bool> {
      entry = only;
      return false;
    }));
  } else {
    return Status(Code::kConflict, input_, kNoOffset, "",
                  "found " + std::to_string(reader->totals().blocks) +
                      " blocks, expected 1 for a classic file; --extract BLOCK writes one of them");
  }
  return extract_block(*reader, *entry, output_, extract_options(kind, threads), ranks);
}

Status ConvertCommand::from_classic(std::optional<Kind> kind, Communicator& ranks,
                                    unsigned threads) {
  if (block_)
    return Status(Code::kUsage, input_, kNoOffset, "",
                  "found --extract with a classic input, expected an NMB file");
  NMB_ASSIGN(std::shared_ptr<const ByteSource> file, FileSource::open(input_));
  NMB_ASSIGN(std::shared_ptr<const Dataset> dataset, open_classic(file));
  for (const HeaderRemark& remark : dataset->remarks)
    if (remark.rule == "R-CH-6") tool_.diagnostics().warning(input_, remark.text());
  if (tool_.options().strict && tool_.diagnostics().exit() != Exit::kDone) return {};
  return write_classic(*dataset, kind.value_or(dataset->kind()), output_,
                       extract_options(kind, threads), ranks);
}

}  // namespace nmb::tools
