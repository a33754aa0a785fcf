// ShownHeader selects the definitions that the text of a dataset shows: all definitions, or only
// the definitions of a netCDF view.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "dump/dump.h"
#include "netcdf/shared_dimensions.h"

namespace nmb {

class ShownHeader {
 public:
  struct Dimension {
    std::string_view name;
    std::uint64_t length;
    bool may_grow;
    std::string_view path;  // path of the dimension's scale in the file, with the leading '/';
                            // empty if there is no scale
    bool is_made_up;        // whether the file does not contain the name
  };
  struct Variable {
    VarId id;
    std::string_view name;
    std::span<const std::uint32_t> dimensions;  // arguments for dimension()
  };

  // view: nullptr to show all definitions. `dataset` and `view` must outlive the object.
  ShownHeader(const DatasetText& dataset, const NetcdfView* view)
      : metadata_(dataset.metadata), records_(dataset.records), view_(view) {}

  std::uint32_t dimension_count() const {
    return view_ ? static_cast<std::uint32_t>(view_->dimensions.size())
                 : metadata_.dimension_count();
  }
  Dimension dimension(std::uint32_t number) const {
    if (view_) {
      const NetcdfView::Dimension& shown = view_->dimensions[number];
      return {shown.name, shown.length, shown.may_grow, shown.path, shown.is_made_up};
    }
    const nmb::Dimension all = metadata_.dimension(number);
    return {all.name,
            all.is_record() ? records_ : all.length,
            all.is_record() || may_grow(metadata_, number),
            {},
            false};
  }
  std::uint32_t variable_count() const {
    return view_ ? static_cast<std::uint32_t>(view_->variables.size()) : metadata_.variable_count();
  }
  Variable variable(std::uint32_t number) const {
    if (view_) {
      const NetcdfView::Variable& shown = view_->variables[number];
      return {shown.id, shown.name, shown.dimensions};
    }
    const nmb::Variable all = metadata_.variable(number);
    return {number, all.name, all.dimensions};
  }
  // Calls visit(attribute, number). `number` counts all attributes of the owner.
  template <class Visit>
  void for_each_attribute(VarId owner, Visit visit) const {
    std::uint32_t number = 0;
    metadata_.for_each_attribute(owner, [&](const Attribute& attribute) {
      if (!view_ || !view_->hides(owner, attribute.name)) visit(attribute, number);
      ++number;
    });
  }
  // Whether the text shows only what netCDF shows.
  bool is_netcdf() const { return view_ && view_->is_netcdf; }

 private:
  const Metadata& metadata_;
  const std::uint64_t records_;
  const NetcdfView* const view_;
};

}  // namespace nmb
