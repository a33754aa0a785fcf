#include "nminspect/dump_command.h"

#include <functional>
#include <utility>

#include "common/options/block_name.h"
#include "common/options/slab.h"
#include "common/printing/json_document.h"
#include "dump/dump.h"
#include "model/text.h"

namespace nmb::tools {

namespace {

// Searches for a variable by its name in the view, and then by its stored name. If a name ends with
// NULs, users omit them, because arguments cannot contain NULs.
std::optional<VarId> find_variable(const Metadata& metadata, const NetcdfView* view,
                                   std::string_view name) {
  if (view)
    for (const NetcdfView::Variable& variable : view->variables)
      if (variable.name == name) return variable.id;
  if (const std::optional<VarId> id = metadata.find_variable(name)) return id;
  for (VarId id = 0; id < metadata.variable_count(); ++id) {
    const std::string_view found = metadata.variable(id).name;
    if (found.starts_with(name) && found.find_first_not_of('\0', name.size()) == found.npos)
      return id;
  }
  return std::nullopt;
}

std::string shape_text(const std::vector<std::uint64_t>& lengths) {
  std::string out;
  for (const std::uint64_t length : lengths)
    out += (out.empty() ? "" : " x ") + std::to_string(length);
  return out;
}

// Returns the shape that netCDF shows for a variable that is shorter than its dimensions. Returns
// an empty text if netCDF shows the stored shape.
std::string longer_shape(const NetcdfView& view, VarId id,
                         const std::vector<std::uint64_t>& stored) {
  for (const NetcdfView::Variable& variable : view.variables) {
    if (variable.id != id || variable.dimensions.size() != stored.size()) continue;
    std::vector<std::uint64_t> shown;
    for (const std::uint32_t d : variable.dimensions) shown.push_back(view.dimensions[d].length);
    if (shown != stored) return shape_text(shown);
  }
  return {};
}

// Writes the JSON document. The values are its last member, and are written in parts, because they
// may not fit into memory.
Status write_with_values(Output& out, const Json& json,
                         const std::function<Status(const TextSink&)>& write) {
  std::string head = json.dump(-1, ' ', true);
  head.back() = ',';
  head += "\"values\":";
  bool begun = false;
  const Status status = write([&](std::string_view part) -> Status {
    if (!std::exchange(begun, true)) NMB_TRY(out.write(head));
    return out.write(part);
  });
  if (!begun) return status;
  std::string tail = "}\n";
  if (!status.ok()) tail = ",\"error\":" + json_message(status.text()).dump(-1, ' ', true) + tail;
  const Status ended = out.write(tail);
  return status.ok() ? ended : status;
}

}  // namespace

DumpCommand::DumpCommand(Tool& tool)
    : InspectCommand(
          tool, "dump",
          {"Shows the values of a variable, or of a hyperslab of the variable.",
           "Values have the form of CDL, one row (the last dimension) per line; `_` is the fill "
           "value. The option --slab takes one selection START:COUNT:STRIDE for each dimension. "
           "START, COUNT and STRIDE may be left out; a single number selects one index.\nWith "
           "--json, the values are nested arrays, with one level for each dimension. A variable "
           "with a null HDF5 dataspace has no values and is shown as NULL (null with "
           "--json).\nBytes of an NMB file are checked before their values are shown. If a piece "
           "is damaged, the command stops there with exit code 1. Values before the damaged piece "
           "are shown; with --json, the document also has the key \"error\".\n\n"
           "The command shows the stored values. If an unlimited dimension is longer than the "
           "variable, netCDF would show more values; a warning reports this.\n\n"
           "VAR is a name that `header` shows with the same --view, or the stored name.",
           "  nminspect dump run.nmb r4952/sr0/evt3/energy\n"
           "  nminspect dump tas.nc tas --slab 0,:,:10:2   # first step, all rows, 10 of every "
           "other column"}) {
  command_.add_option("BLOCK/VAR", object_, "the variable's full name")->required();
  command_
      .add_option("--slab", slab_, "START:COUNT:STRIDE for each dimension, separated by commas")
      ->type_name("SLAB");
  view_.offer(command_);
  tool.offer_json(command_);
  offer_progress(Reads::kPart);
}

Status DumpCommand::run(const InspectedFile& file) {
  const std::string_view object = name_from_user(object_);
  const std::size_t slash = object.rfind('/');
  const std::string_view block = slash == object.npos ? "" : object.substr(0, slash);
  const std::string_view variable = slash == object.npos ? object : object.substr(slash + 1);
  NMB_ASSIGN(const std::shared_ptr<const Dataset> dataset, file.dataset(block));
  NMB_ASSIGN(const std::optional<NetcdfView> view,
             view_.of(file, block, *dataset, MadeUpNames::kOfNoMatter));
  const std::optional<VarId> id =
      find_variable(dataset->metadata, view ? &*view : nullptr, variable);
  if (!id)
    return Status(Code::kNotFound, "found no variable \"" + std::string(variable) +
                                       "\" in block \"" + std::string(block) + "\"");
  NMB_ASSIGN(const VariableShape shape, dataset->shape(*id));
  if (const std::string shown = view ? longer_shape(*view, *id, shape.lengths) : ""; !shown.empty())
    tool_.diagnostics().warning(file.file().name(),
                                std::string("variable \"") + printable(object) + "\"" +
                                    ": the stored shape is " + shape_text(shape.lengths) +
                                    "; netCDF shows " + shown + ", with fill values at the end");
  Hyperslab slab = whole_slab(shape.lengths);
  if (slab_) {
    NMB_ASSIGN(slab, parse_slab(*slab_, shape.lengths));
  }
  const DatasetText text{block, dataset->metadata, dataset->kind(), dataset->records};
  const auto write = [&](ValueFormat format, const TextSink& sink) {
    return write_values(text, dataset->layout, dataset->extent, *id, slab, format, sink);
  };
  if (!tool_.options().json) return write(ValueFormat::kCdl, tool_.out().sink());

  Json json = json_document("dump");
  json["file"] = json_text(file.file().name());
  json["block"] = json_text(block);
  json["variable"] = json_text(variable);
  json["type"] = json_text(type_text(dataset->metadata, dataset->metadata.variable(*id).type));
  json["shape"] = shape.lengths;
  json["slab"] = {{"start", slab.start}, {"count", slab.count}, {"stride", slab.stride}};
  return write_with_values(tool_.out(), json,
                           [&](const TextSink& sink) { return write(ValueFormat::kJson, sink); });
}

}  // namespace nmb::tools
