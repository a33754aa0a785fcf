#include "nminspect/provenance_command.h"

#include "common/printing/json_document.h"
#include "model/text.h"
#include "reader/file_reader.h"

namespace nmb::tools {

ProvenanceCommand::ProvenanceCommand(Tool& tool)
    : InspectCommand(
          tool, "provenance",
          {"Shows the inputs from which a file was made, as JSON.",
           "If nmcat writes to an NMB file, it records the names and sizes of the inputs, and the "
           "options that determine the contents. Each run of nmcat adds one record to the file. If "
           "an input is an NMB file, its own provenance is included. The records are not compared "
           "with the inputs. The list is empty for a file without records.",
           "  nminspect provenance run.nmb"}) {}

Status ProvenanceCommand::run(const InspectedFile& file) {
  Json json = json_document("provenance_of");
  json["file"] = json_text(file.file().name());
  json["kind"] = kind_name(file.file().kind());
  Json& runs = json["runs"] = Json::array();
  if (const FileReader* reader = file.reader()) {
    NMB_ASSIGN(const std::vector<std::string> texts, reader->provenance());
    for (const std::string& text : texts) {
      constexpr int kMostDepth = 256;
      std::optional<Json> parsed = parse_object(text, kMostDepth);
      runs.push_back(parsed ? std::move(*parsed) : Json(json_text(text)));
    }
  }
  return write_json(tool_.out(), json);
}

}  // namespace nmb::tools
