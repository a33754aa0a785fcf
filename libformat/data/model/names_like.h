// NamesLike defines the dimensions and variables of a block that probably has the same names as an
// earlier block, which is called the model (spec/writer.md, section 5.6).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "model/metadata.h"

namespace nmb {

// As long as each name equals the name of the same object in the model, names need no check,
// because the names in the model are legal and distinct. A NamesLike object must define all
// dimensions and variables of one Metadata. Not thread-safe.
class NamesLike {
 public:
  // model: nullptr, or metadata with Names::kNew that outlives this object. Objects may be added to
  // the model later.
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
