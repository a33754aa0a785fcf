// Description: what a program that creates very many objects knows before it calls a library, in
// compact arrays, so that timings and memory are the library's alone. Deterministic.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "nmb/types.h"

namespace nmb::bench {

enum class Shape : std::uint8_t {
  kOne,        // a sample is 10 variables and 15 dimensions, all of a rank's in one block
  kSamples,    // a sample is a block of 16 variables and 24 dimensions
  kOneObject,  // a sample is a block of 1 variable and 1 dimension
};

// Command-line words.
inline const std::map<std::string, Shape> kShapes = {
    {"one", Shape::kOne}, {"samples", Shape::kSamples}, {"one-object", Shape::kOneObject}};

// Samples that make 568,480 variables and 852,715 dimensions.
constexpr std::uint64_t usual_samples(Shape shape) {
  return shape == Shape::kOne ? 56'848 : shape == Shape::kSamples ? 35'530 : 568'480;
}

struct Counts {
  std::size_t blocks = 0, variables = 0, dimensions = 0;
};

// Which samples a rank describes.
struct Samples {
  std::uint64_t first = 0, count = 0, step = 1;
  std::uint64_t of = 0;  // all ranks'

  static Samples all(std::uint64_t of) { return {0, of, 1, of}; }
  // A share of as many for each rank: neighbours, or every `size`th.
  static Samples share(std::uint64_t of, int rank, int size, bool interleaved) {
    const auto r = static_cast<std::uint64_t>(rank), p = static_cast<std::uint64_t>(size);
    const std::uint64_t begin = of * r / p, end = of * (r + 1) / p;
    return interleaved ? Samples{r, (of + p - 1 - r) / p, p, of}
                       : Samples{begin, end - begin, 1, of};
  }
};

struct Description {
  struct Name {
    std::uint32_t place, length;
  };
  struct Dimension {
    Name name;
    std::uint64_t length;
  };
  // Its dimensions are its own: the next `rank` after those of the variable before it.
  struct Variable {
    Name name;
    Type type;
    std::uint8_t rank;
  };
  struct Block {
    Name name;
    std::uint32_t variables;
  };

  std::string_view text(Name name) const { return {heap.data() + name.place, name.length}; }
  Counts counts() const { return {blocks.size(), variables.size(), dimensions.size()}; }

  std::string heap;
  std::vector<Dimension> dimensions;
  std::vector<Variable> variables;
  std::vector<Block> blocks;
};

// Defines all objects in a library without blocks: calls def_dim(name, length), which returns an
// ID, and def_var(variable, name, IDs of its dimensions). Names end with a NUL.
template <class DefDim, class DefVar>
void define_flat(const Description& objects, DefDim def_dim, DefVar def_var) {
  std::string name;
  std::size_t dimension = 0;
  std::vector<int> ids;
  for (const Description::Variable& v : objects.variables) {
    ids.clear();
    for (std::uint8_t axis = 0; axis < v.rank; ++axis) {
      const Description::Dimension& d = objects.dimensions[dimension++];
      name = objects.text(d.name);
      ids.push_back(def_dim(name.c_str(), d.length));
    }
    name = objects.text(v.name);
    def_var(v, name.c_str(), ids);
  }
}

// flat: for libraries without blocks; names of objects begin with their block's and all are in one
// block without a name. block: the name of the one block of Shape::kOne.
Description describe(Shape shape, const Samples& samples, bool flat, const std::string& block = "");

// The sample to which a name of a flat description belongs; empty: none.
std::string_view sample_of(std::string_view flat_name);

// Element i of variable number v of the description, exact in every type used.
constexpr std::int32_t value_at(std::uint64_t v, std::uint64_t i) {
  return static_cast<std::int32_t>((v * 7 + i) % 1000);
}

// All values of a variable of `count` elements.
std::vector<std::int32_t> values_of(std::uint64_t v, std::uint64_t count);

}  // namespace nmb::bench
