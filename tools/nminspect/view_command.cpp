#include "nminspect/view_command.h"

#include "common/printing/json_document.h"
#include "common/printing/table.h"
#include "reader/file_reader.h"
#include "view/hdf5_view.h"

namespace nmb::tools {

ViewCommand::ViewCommand(Tool& tool)
    : InspectCommand(
          tool, "view",
          {"Lists the objects that the HDF5 view of an NMB file leaves out.",
           "Each line has a reason, an object that HDF5 programs do not see, and an explanation. "
           "The list describes the newest generation, even if the file has no view. If the list is "
           "empty, a view shows all objects. If no view is possible, the exit code is 2, and the "
           "message gives the reason.",
           "  nminspect view run.nmb"}) {
  tool.offer_json(command_);
  offer_progress(Reads::kPart);
}

Status ViewCommand::run(const InspectedFile& file) {
  if (!file.reader()) return refused_kind(file.file(), file.file().kind());
  Json json = json_document("view");
  json["file"] = json_text(file.file().name());
  Json& objects = json["left_out"] = Json::array();
  Table table(tool_.out(), {{"reason"}, {"object"}, {"explanation"}});
  NMB_TRY(for_each_left_out(file.reader()->file(), [&](const LeftOut& left_out) -> Status {
    const std::string reason(left_out_word(left_out.reason));
    if (!tool_.options().json) return table.row({reason, left_out.object(), left_out.why});
    Json object{{"reason", reason},
                {"kind", left_out_word(left_out.kind)},
                {"path", json_text(left_out.path)}};
    if (left_out.kind == LeftOutKind::kAttribute)
      object["attribute"] = json_text(left_out.attribute);
    object["explanation"] = json_text(left_out.why);
    objects.push_back(std::move(object));
    return {};
  }));
  return tool_.options().json ? write_json(tool_.out(), json) : table.finish();
}

}  // namespace nmb::tools
