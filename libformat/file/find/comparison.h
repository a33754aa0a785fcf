// Compares two values with the operator of an expression.
#pragma once

#include "find/find.h"

namespace nmb {

template <class T>
bool compare(Comparison comparison, const T& a, const T& b) {
  switch (comparison) {
    case Comparison::kEqual:
      return a == b;
    case Comparison::kNotEqual:
      return a != b;
    case Comparison::kLess:
      return a < b;
    case Comparison::kLessEqual:
      return a <= b;
    case Comparison::kMore:
      return a > b;
    case Comparison::kMoreEqual:
      break;
  }
  return a >= b;
}

}  // namespace nmb
