#include "export/links_out.h"

#include <set>

#include "export/attributes_out.h"
#include "hdf5_error.h"
#include "model/paths.h"
#include "wire/joined_text.h"

namespace nmb::hdf5 {

namespace {

constexpr std::uint32_t kFirstUserDefined = 65, kLastUserDefined = 255;

hid_t refuse(const char*, hid_t, const void*, std::size_t, hid_t, hid_t) { return H5I_INVALID_HID; }

// Registers a class of links, because HDF5 makes only links of registered classes. The functions of
// the class are never used.
Status register_class(std::uint32_t number) {
  static std::set<std::uint32_t> known;
  if (!known.insert(number).second) return {};
  const H5L_class_t link_class = {H5L_LINK_CLASS_T_VERS,
                                  static_cast<H5L_type_t>(number),
                                  "",
                                  nullptr,
                                  nullptr,
                                  nullptr,
                                  refuse,
                                  nullptr,
                                  nullptr};
  return check_hdf5(H5Lregister(&link_class), joined_text("class ", number, " of links"));
}

Result<Handle> properties_of(CharacterSet character_set) {
  NMB_ASSIGN(Handle lcpl, check_handle(H5Pcreate(H5P_LINK_CREATE), "properties"));
  NMB_TRY(check_hdf5(H5Pset_char_encoding(lcpl.get(), static_cast<H5T_cset_t>(character_set)),
                     "character set"));
  return lcpl;
}

Status make_external(const Link& link, hid_t group, const std::string& name, hid_t lcpl) {
  const std::size_t nul = link.content.find('\0');
  if (nul == link.content.npos || link.content.find('\0', nul + 1) != link.content.npos)
    return damaged("found an external link without a file and a path");
  if (link.number != 0)
    return unsupported("found an external link with flags ", link.number, ", expected none");
  return check_hdf5(H5Lcreate_external(link.content.c_str(), link.content.c_str() + nul + 1, group,
                                       name.c_str(), lcpl, H5P_DEFAULT),
                    "an external link");
}

Status make_to_type(const Link& link, ExportSource& source, hid_t group, const std::string& name) {
  const auto type = static_cast<Type>(link.number);
  if (link.number > 65535 || !TypeTable::is_extended(type) || !source.types().table().has(type) ||
      source.types().table().at(type).name.empty())
    return damaged("found type ", link.number, ", expected a named datatype");
  NMB_ASSIGN(const hid_t datatype, source.types().stored(type));
  return link_object(datatype, group, name, link.character_set, "named datatype");
}

Status make(const Link& link, ExportSource& source, hid_t group, ObjectMaker& maker,
            const std::function<Status(VarId, hid_t)>& on_variable) {
  if (link.kind == LinkKind::kVariable) {
    if (link.number >= source.metadata().variable_count())
      return damaged("found a link to variable ", link.number, ", but the number of variables is ",
                     source.metadata().variable_count());
    const VarId variable = link.number;
    NMB_ASSIGN(const Handle data_set, maker.data_set(source, variable));
    const std::string_view name =
        link.name.empty() ? source.metadata().variable(variable).name : link.name;
    NMB_TRY(link_object(data_set.get(), group, name, link.character_set, "data set"));
    return on_variable(variable, data_set.get());
  }
  NMB_ASSIGN(const std::string name, link_name(link.name));
  NMB_ASSIGN(const Handle lcpl, properties_of(link.character_set));
  switch (link.kind) {
    case LinkKind::kGroup: {
      NMB_ASSIGN(const std::shared_ptr<ExportSource> child,
                 maker.block(joined_path(source.name(), name)));
      NMB_ASSIGN(const Handle made, maker.group(*child));
      return link_object(made.get(), group, name, link.character_set, "group");
    }
    case LinkKind::kType:
      return make_to_type(link, source, group, name);
    case LinkKind::kSoft: {
      NMB_ASSIGN(const std::string target, c_text(link.content, "a soft link"));
      return check_hdf5(
          H5Lcreate_soft(target.c_str(), group, name.c_str(), lcpl.get(), H5P_DEFAULT),
          "a soft link");
    }
    case LinkKind::kExternal:
      return make_external(link, group, name, lcpl.get());
    case LinkKind::kHard: {
      NMB_ASSIGN(const Handle object, maker.object_at(link.content));
      return link_object(object.get(), group, name, link.character_set, "object");
    }
    case LinkKind::kUserDefined:
      if (link.number < kFirstUserDefined || link.number > kLastUserDefined)
        return damaged("found a link of class ", link.number, ", expected ", kFirstUserDefined,
                       " to ", kLastUserDefined);
      NMB_TRY(register_class(link.number));
      return check_hdf5(
          H5Lcreate_ud(group, name.c_str(), static_cast<H5L_type_t>(link.number),
                       link.content.data(), link.content.size(), lcpl.get(), H5P_DEFAULT),
          "a user-defined link");
    case LinkKind::kVariable:
      break;
  }
  return {};
}

}  // namespace

Status forbid_leaving() { return register_class(static_cast<std::uint32_t>(H5L_TYPE_EXTERNAL)); }

Status link_object(hid_t object, hid_t group, std::string_view name, CharacterSet character_set,
                   std::string_view what) {
  NMB_ASSIGN(const std::string checked, link_name(name));
  NMB_ASSIGN(const Handle lcpl, properties_of(character_set));
  return check_hdf5(H5Olink(object, group, checked.c_str(), lcpl.get(), H5P_DEFAULT),
                    object_text(what, checked));
}

Status make_link(const Link& link, ExportSource& source, hid_t group, ObjectMaker& maker,
                 const std::function<Status(VarId, hid_t)>& on_variable) {
  const Status status = make(link, source, group, maker, on_variable);
  if (status.ok()) return status;
  const std::string where =
      link.kind == LinkKind::kVariable ? "" : joined_text(", link ", link.name);
  return status.of_object(object_text("group", "/" + source.name()) + where);
}

}  // namespace nmb::hdf5
