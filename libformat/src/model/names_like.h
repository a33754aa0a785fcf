// NamesLike defines dimensions and variables of a block that probably has the same names as an
// earlier block, its model (spec/format.md, "Names").
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "nmb/metadata.h"

namespace nmb {

// While all names equal those of the model in the same places, no name needs a check: the model has
// it, so it is legal and unused. Use one object for one Metadata, from its first dimension and
// variable on. Not thread-safe.
class NamesLike {
 public:
  // `model` is nullptr, or must use Names::kNew and outlive this object; it may grow.
  explicit NamesLike(const Metadata* model = nullptr)
      : model_(model), dimensions_(model != nullptr), variables_(model != nullptr) {}

  Result<DimId> def_dim(Metadata& to, std::string_view name, std::uint64_t length) {
    const DimId id = to.dimension_count();
    dimensions_ =
        dimensions_ && id < model_->dimension_count() && model_->dimension(id).name == name;
    return to.def_dim(name, length, state(dimensions_));
  }
  Result<VarId> def_var(Metadata& to, std::string_view name, Type type,
                        std::span<const DimId> dimensions) {
    const VarId id = to.variable_count();
    variables_ = variables_ && id < model_->variable_count() && model_->variable(id).name == name;
    return to.def_var(name, type, dimensions, state(variables_));
  }

 private:
  static Metadata::Name state(bool alike) {
    return alike ? Metadata::Name::kFree : Metadata::Name::kUnknown;
  }

  const Metadata* model_;
  bool dimensions_, variables_;  // whether all names so far equal the model's names
};

}  // namespace nmb
