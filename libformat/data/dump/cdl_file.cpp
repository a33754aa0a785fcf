// Writes a dataset, or all blocks of a file, as CDL without data (see dump/dump.h).
#include <optional>
#include <vector>

#include "dump/cdl_header.h"
#include "dump/group_walk.h"
#include "hdf5_types/netcdf_marks.h"
#include "model/paths.h"

namespace nmb {

namespace {

// Whether ncdump shows a file as a classic file: netCDF marks a netCDF-4 file in this way if it has
// only what a classic file can have.
bool is_shown_as_classic(const Dataset& root) {
  return !root.metadata.extension() ||
         root.metadata.find_attribute(kGlobal, kClassicModel).has_value();
}

class CdlFile final : public GroupVisitor {
 public:
  CdlFile(const FileText& file, const TypeNames& names, TextOut& out, CdlForm form)
      : file_(file), names_(names), out_(out), form_(form) {}

  Status begin(std::string_view path, const Dataset* dataset, bool has_groups) override {
    if (path.empty()) {
      header_.emplace(out_, form_, dataset && !has_groups && is_shown_as_classic(*dataset));
      out_.put("netcdf ");
      header_->put_name(file_.name, true);
    } else {
      out_.put('\n');
      header_->indent();
      out_.put("group: ");
      header_->put_name(split_path(path).name);
      header_->indent_more();
    }
    out_.put(" {\n");
    open_.push_back({path});
    if (dataset) {
      NMB_ASSIGN(const std::optional<NetcdfView> view, file_.view(path, *dataset));
      const DatasetText text{path, dataset->metadata, dataset->kind(), dataset->records};
      ShownGroup group(text, view ? &*view : nullptr);
      NMB_TRY(group.open(&open_, names_, has_groups));
      header_->put(group);
    }
    return out_.status();
  }
  Status end(std::string_view path) override {
    header_->indent();
    if (path.empty()) {
      out_.put("}\n");
    } else {
      out_.put("} // group ");
      header_->put_name(split_path(path).name);
      out_.put('\n');
      header_->indent_less();
    }
    open_.pop_back();
    return out_.status();
  }

 private:
  const FileText& file_;
  const TypeNames& names_;
  TextOut& out_;
  const CdlForm form_;
  std::optional<CdlHeader> header_;  // set once the root group has begun
  std::vector<OpenGroup> open_;
};

}  // namespace

Status write_cdl_file(const FileText& file, const TextSink& sink, CdlForm form) {
  TextOut out(sink);
  NMB_ASSIGN(const TypeNames names, names_of_types(file.blocks));
  CdlFile text(file, names, out, form);
  const Status status = visit_groups(file.blocks, text);
  const Status written = out.finish();
  return status.ok() ? written : status;
}

Status write_cdl_header(const DatasetText& dataset, const TextSink& sink, const NetcdfView* view,
                        CdlForm form) {
  TextOut out(sink);
  const Status status = put_cdl_header(out, dataset, view, form);
  if (status.ok()) out.put("}\n");
  const Status written = out.finish();
  return status.ok() ? written : status;
}

Status put_cdl_header(TextOut& out, const DatasetText& dataset, const NetcdfView* view,
                      CdlForm form) {
  CdlHeader header(out, form, !dataset.metadata.extension());
  out.put("netcdf ");
  header.put_name(dataset.name, true);
  out.put(" {\n");
  ShownGroup group(dataset, view);
  NMB_TRY(group.read());
  header.put(group);
  return {};
}

}  // namespace nmb
