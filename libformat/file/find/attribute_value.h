// Reads the value of an attribute, for a comparison or for a tag.
#pragma once

#include "model/metadata.h"
#include "nmb/statistics.h"
#include "wire/failure.h"

namespace nmb {

// Returns the value of an attribute that has text or one number. Integers become int64, or uint64
// if their type is uint64. Errors: kUnsupported for other attributes, with a description such as "2
// values of type int" as message; kDamaged as for attribute_text().
Result<TagValue> attribute_value(const Metadata& metadata, const Attribute& attribute);

}  // namespace nmb
