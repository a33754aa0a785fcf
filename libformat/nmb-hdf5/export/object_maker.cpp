#include "export/object_maker.h"

#include "export/data_set_out.h"
#include "hdf5_error.h"

namespace nmb::hdf5 {

ObjectMaker::ObjectMaker(const NamedBlocks& blocks, const Hdf5Form& form, hid_t file,
                         WriteStyle style)
    : blocks_(blocks),
      form_(form),
      file_(file),
      style_(std::move(style)),
      find_object_([this](std::string_view path) { return object_at(path); }) {}

Result<std::shared_ptr<ExportSource>> ObjectMaker::block(const std::string& name) {
  if (last_ && last_->name() == name) return last_;
  NMB_ASSIGN(std::shared_ptr<const LoadedBlock> block, blocks_.block(name));
  NMB_ASSIGN(block, form_.written(std::move(block)));
  NMB_ASSIGN(last_, ExportSource::make(std::move(block), file_, named_));
  NMB_TRY(last_->set_style(style_));
  return last_;
}

Result<Handle> ObjectMaker::object_at(std::string_view path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  if (path.empty()) return check_handle(H5Gopen2(file_, "/", H5P_DEFAULT), "the root group");
  if (const auto there = waiting_.find(path); there != waiting_.end()) return there->second.share();
  if (const auto there = named_.find(path); there != named_.end()) return there->second.share();
  NMB_ASSIGN(const std::string name, c_text(path, "path"));
  Handle open(H5Oopen(file_, name.c_str(), H5P_DEFAULT));
  if (open.ok()) return open;
  H5Eclear2(H5E_DEFAULT);
  if (!being_made_.insert(name).second)
    return damaged(object_text("object", name) + ": the fill value refers to the object itself");
  Result<Handle> made = make(name);
  being_made_.erase(name);
  if (!made.ok()) return made;
  if (!named_.contains(path)) waiting_.emplace(name, made->share());
  return made;
}

Result<Handle> ObjectMaker::make(const std::string& path) {
  NMB_ASSIGN(const std::optional<BlockEntry> entry, blocks_.find(path));
  if (entry) {
    NMB_ASSIGN(const std::shared_ptr<ExportSource> source, block(path));
    return make_group_of(*source);
  }
  const std::size_t slash = path.rfind('/');
  const std::string parent = slash == path.npos ? "" : path.substr(0, slash);
  NMB_ASSIGN(const std::optional<BlockEntry> above, blocks_.find(parent));
  if (above) {
    NMB_ASSIGN(const std::shared_ptr<ExportSource> source, block(parent));
    if (const auto variable =
            source->metadata().find_variable(slash == path.npos ? path : path.substr(slash + 1)))
      return make_data_set_of(*source, *variable);
    const TypeTable& types = source->types().table();
    for (std::uint32_t i = 0; i < types.size(); ++i) {
      if (types[i].name.empty() || path_of(types[i]) != path) continue;
      NMB_TRY(source->types().stored(static_cast<Type>(TypeTable::kFirst + i)).status());
      return named_.find(path)->second.share();
    }
  }
  return damaged("found the path \"" + path +
                 "\", which is not the path of a block, a variable or a named datatype");
}

Handle ObjectMaker::take_waiting(const std::string& path) {
  auto found = waiting_.extract(path);
  return found ? std::move(found.mapped()) : Handle();
}

Result<Handle> ObjectMaker::data_set(ExportSource& source, VarId variable) {
  Handle early = take_waiting(source.path(variable));
  if (early.ok()) return early;
  return make_data_set_of(source, variable);
}

Result<Handle> ObjectMaker::group(ExportSource& source) {
  Handle early = take_waiting(source.name());
  if (early.ok()) return early;
  return make_group_of(source);
}

Result<Handle> ObjectMaker::empty_group(const std::string& name) {
  NMB_ASSIGN(const Handle gcpl, new_object_properties(H5P_GROUP_CREATE, "properties"));
  return check_handle(H5Gcreate_anon(file_, gcpl.get(), H5P_DEFAULT), object_text("group", name));
}

Status ObjectMaker::set_header_version(const Metadata& metadata, std::uint32_t owner) {
  const bool wanted = has_large_attribute(metadata, owner);
  if (wanted == new_headers_) return {};
  NMB_TRY(check_hdf5(
      H5Fset_libver_bounds(file_, wanted ? H5F_LIBVER_V18 : H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST),
      "version of headers"));
  new_headers_ = wanted;
  return {};
}

Result<Handle> ObjectMaker::make_data_set_of(ExportSource& source, VarId variable) {
  NMB_TRY(set_header_version(source.metadata(), variable));
  NMB_ASSIGN(Handle id, make_data_set(source, variable, file_, find_object_));
  std::uint32_t number = 0;
  const auto make = [&](const Attribute& attribute) -> Status {
    NMB_ASSIGN(const AttributeOut out, attribute_out(source, variable, number++, attribute));
    return make_attribute(out, source.types(), id.get());
  };
  const Status status = source.metadata().try_each_attribute(variable, make);
  if (status.ok()) return id;
  return within(source.text(variable), status);
}

Result<Handle> ObjectMaker::make_group_of(ExportSource& source) {
  NMB_TRY(set_header_version(source.metadata(), kGlobal));
  NMB_ASSIGN(const Handle gcpl, new_object_properties(H5P_GROUP_CREATE, "properties"));
  NMB_TRY(set_group_order(gcpl.get(), source.order(kGlobal)));
  return check_handle(H5Gcreate_anon(file_, gcpl.get(), H5P_DEFAULT),
                      object_text("group", source.name()));
}

Status set_group_order(hid_t gcpl, const Order& order) {
  if (order.links != 0)
    NMB_TRY(check_hdf5(H5Pset_link_creation_order(gcpl, order.links), "order of links"));
  return set_attribute_order(gcpl, order.attributes);
}

bool has_large_attribute(const Metadata& metadata, std::uint32_t owner) {
  bool large = false;
  metadata.for_each_attribute(
      owner, [&](const Attribute& attribute) { large = large || is_large(attribute); });
  return large;
}

}  // namespace nmb::hdf5
