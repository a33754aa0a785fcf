#include "nminspect/summary_command.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/printing/json_document.h"
#include "common/printing/table.h"
#include "common/printing/units.h"
#include "model/text.h"

namespace nmb::tools {

SummaryCommand::SummaryCommand(Tool& tool)
    : InspectCommand(tool, "summary",
                     {"Shows kind, size and totals of a file (the default command).",
                      "For an NMB file of any size, only the head is read, in one read of 16 KiB. "
                      "If values lie in other files, the file table is read too. Bytes after the "
                      "last commit belong to a write that was not finished; readers ignore them.",
                      "  nminspect run.nmb\n  nminspect summary --json run.nmb"}) {
  tool.offer_json(command_);
  tool.offer_bytes(command_);
  offer_progress(Reads::kPart);
}

namespace {

Result<Json> summary_of(const InspectedFile& file) {
  const Totals& totals = file.totals();
  const FileReader* reader = file.reader();
  const std::uint64_t size = file.file().size();
  Json json = json_document("summary");
  json["file"] = json_text(file.file().name());
  json["kind"] = kind_name(file.file().kind());
  json["size"] = size;
  if (reader) {
    const Digest id = reader->file_id();
    json["generation"] = reader->generation();
    json["file_id"] = fmt::format("{:016x}{:016x}", id.high, id.low);
    json["uncommitted"] = size - reader->file_length();
    NMB_ASSIGN(const std::vector<ExternalFile> files, reader->external_files());
    const auto originals = std::ranges::count_if(files, &ExternalFile::is_original);
    json["external_files"] = files.size() - static_cast<std::size_t>(originals);
    json["originals"] = originals;
    json["hdf5_view"] = reader->has_hdf5_view();
    // If the view is damaged, the summary is still shown; nmverify reports the damage.
    const Result<std::uint64_t> shown = reader->hdf5_view_generation();
    if (reader->has_hdf5_view() && shown.ok() && *shown != 0) json["hdf5_view_generation"] = *shown;
  }
  json.update(totals_json(totals));
  return json;
}

}  // namespace

Status SummaryCommand::run(const InspectedFile& file) {
  NMB_ASSIGN(const Json json, summary_of(file));
  if (tool_.options().json) return write_json(tool_.out(), json);
  Table table(tool_.out(), {{""}, {""}});
  for (const auto& [key, value] : json.items()) {
    if (key == "schema" ||
        ((key == "uncommitted" || key == "external_files" || key == "originals") && value == 0) ||
        value == false || key == "hdf5_view_generation")
      continue;
    std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (key == "size" || key == "uncommitted")
      text = bytes_text(value.get<std::uint64_t>(), tool_.options().bytes);
    // In the JSON document, the name of the file is encoded; the table shows it without this
    // encoding.
    if (key == "file") text = file.file().name();
    if (key == "hdf5_view")
      text = json.contains("hdf5_view_generation")
                 ? "of generation " + json["hdf5_view_generation"].dump()
                 : "of an unknown generation";
    NMB_TRY(table.row({std::string(key == "file_id"          ? "file id"
                                   : key == "external_files" ? "external files"
                                   : key == "hdf5_view"      ? "HDF5 view"
                                                             : key),
                       text}));
  }
  return table.finish();
}

}  // namespace nmb::tools
