#include "nminspect/files_command.h"

#include "common/options/block_name.h"
#include "common/original_files.h"
#include "common/printing/json_document.h"
#include "common/printing/table.h"
#include "common/printing/units.h"
#include "model/text.h"

namespace nmb::tools {

FilesCommand::FilesCommand(Tool& tool)
    : InspectCommand(
          tool, "files",
          {"Lists originals, files with digests, and external files.",
           "An original is an input file that is stored whole. It is dead if its block was "
           "replaced "
           "or removed: it cannot be written any more, and nmconvert --repack drops it. A classic "
           "file (kind classic) is "
           "stored whole as a block; it is listed if nmcat or nmconvert recorded its digest "
           "(--digest). `nmconvert FILE --original BLOCK -o "
           "OUT` writes such a file, byte for byte; "
           "`nmverify --originals` checks that this is possible. The column digest has the "
           "XXH3-128 of a file, and the column sha256 has its SHA-256 if nmcat or nmconvert "
           "recorded it. An external file contains values that nmcat --link left there.",
           "  nminspect files all.nmb\n  nminspect files --json all.nmb"}) {
  tool.offer_json(command_);
  tool.offer_bytes(command_);
  offer_progress(Reads::kPart);
}

Status FilesCommand::run(const InspectedFile& file) {
  std::vector<ExternalFile> files;
  std::vector<OriginalFile> originals;
  if (const FileReader* const reader = file.reader()) {
    NMB_ASSIGN(files, reader->external_files());
    NMB_ASSIGN(originals, originals_of(*reader));
  }
  if (tool_.options().json) {
    Json json = json_document("files");
    json["file"] = json_text(file.file().name());
    json["originals"] = Json::array();
    for (const OriginalFile& original : originals)
      json["originals"].push_back(original_json(original));
    json["external"] = Json::array();
    for (const ExternalFile& row : files)
      if (!row.is_original)
        json["external"].push_back({{"file", json_text(row.path)}, {"bytes", row.size}});
    return write_json(tool_.out(), json);
  }
  Table table(
      tool_.out(),
      {{"kind"}, {"bytes", Table::Align::kRight}, {"block"}, {"digest"}, {"sha256"}, {"file"}});
  const auto tell = [&](const OriginalFile& original) {
    const bool has_path = original.number > 0;
    return table.row({!has_path        ? "classic"
                      : original.block ? "original"
                                       : "dead",
                      bytes_text(original.file.size, tool_.options().bytes),
                      original.block ? std::string(name_for_user(*original.block)) : "-",
                      digest_text(original.file.digest),
                      original.file.sha256 ? digest_text(*original.file.sha256) : "-",
                      has_path ? original.file.path : "-"});
  };
  auto original = originals.begin();
  for (const ExternalFile& row : files) {
    if (row.is_original) {
      NMB_TRY(tell(*original++));
      continue;
    }
    NMB_TRY(table.row(
        {"external", bytes_text(row.size, tool_.options().bytes), "-", "-", "-", row.path}));
  }
  for (; original != originals.end(); ++original) NMB_TRY(tell(*original));
  return table.finish();
}

}  // namespace nmb::tools
