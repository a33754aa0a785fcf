// Definitions divided among ranks become the same definitions again (spec/rationale.md, "Shared
// blocks").
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "state/shared_definitions.h"
#include "support/header_bytes.h"

namespace nmb {
namespace {

using Random = std::mt19937_64;

bool coin(Random& random) { return random() % 2 == 0; }

void copy_attributes(const Metadata& from, VarId owner, bool shuffle, Random& random, Metadata* to,
                     VarId new_owner) {
  std::vector<Attribute> attributes;
  from.for_each_attribute(owner, [&](const Attribute& a) { attributes.push_back(a); });
  if (shuffle) std::shuffle(attributes.begin(), attributes.end(), random);
  for (const Attribute& a : attributes)
    ASSERT_TRUE(to->def_att(new_owner, a.name, a.type, a.values).ok());
}

// The definitions of `all` that a rank has; for its own IDs, those of `all`.
struct Share {
  Metadata metadata;
  SharedDefinitions::Ids origin;
};

// Variables [first, last) and, at random, others before them; all block attributes and the
// dimensions up to the last that is needed, so that the order of first occurrence is that of `all`.
Share share(const Metadata& all, VarId first, VarId last, Random& random) {
  Share made;
  DimId needed = last == all.variable_count() ? all.dimension_count() : 0;
  std::vector<VarId> variables;
  for (VarId id = 0; id < last; ++id) {
    if (id < first && coin(random)) continue;
    variables.push_back(id);
    for (const DimId dimension : all.variable(id).dimensions)
      needed = std::max(needed, dimension + 1);
  }
  for (DimId id = 0; id < needed; ++id) {
    EXPECT_TRUE(made.metadata.def_dim(all.dimension(id).name, all.dimension(id).length).ok());
    made.origin.dimensions.push_back(id);
  }
  copy_attributes(all, kGlobal, first > 0, random, &made.metadata, kGlobal);
  for (const VarId id : variables) {
    const Variable variable = all.variable(id);
    const auto local = made.metadata.def_var(variable.name, variable.type, variable.dimensions);
    EXPECT_TRUE(local.ok());
    copy_attributes(all, id, id < first, random, &made.metadata, *local);
    made.origin.variables.push_back(id);
  }
  return made;
}

// The same in another order.
Metadata shuffled(const Metadata& all, Random& random) {
  Metadata made;
  std::vector<DimId> dimensions(all.dimension_count()), places(all.dimension_count());
  for (DimId id = 0; id < all.dimension_count(); ++id) dimensions[id] = id;
  std::shuffle(dimensions.begin(), dimensions.end(), random);
  for (const DimId id : dimensions)
    places[id] = made.def_dim(all.dimension(id).name, all.dimension(id).length).value();
  std::vector<VarId> variables(all.variable_count());
  for (VarId id = 0; id < all.variable_count(); ++id) variables[id] = id;
  std::shuffle(variables.begin(), variables.end(), random);
  copy_attributes(all, kGlobal, true, random, &made, kGlobal);
  for (const VarId id : variables) {
    const Variable variable = all.variable(id);
    std::vector<DimId> shape;
    for (const DimId dimension : variable.dimensions) shape.push_back(places[dimension]);
    const VarId local = made.def_var(variable.name, variable.type, shape).value();
    copy_attributes(all, id, true, random, &made, local);
  }
  return made;
}

std::vector<std::byte> laid_out(Metadata metadata) {
  EXPECT_TRUE(layout_classic(metadata, Kind::kCdf5).ok());
  return test::encode(metadata, Kind::kCdf5, 0).value();
}

TEST(SharedDefinitionsProperty, PutsDividedDefinitionsTogether) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Metadata all = test::random_metadata(Kind::kCdf5, random);
    SharedDefinitions block("b");
    VarId first = 0;
    for (int rank = 0; first < all.variable_count() || rank == 0; ++rank) {
      const VarId last = first + static_cast<VarId>(random() % (all.variable_count() - first + 1u));
      const Share mine = share(all, first, last, random);
      const auto ids = block.add(rank, mine.metadata);
      ASSERT_TRUE(ids.ok()) << ids.status().message();
      EXPECT_EQ(ids->dimensions, mine.origin.dimensions);
      EXPECT_EQ(ids->variables, mine.origin.variables);
      if (last == all.variable_count()) break;
      first = last;
    }
    ASSERT_EQ(test::difference(block.metadata(), all), "");
    EXPECT_EQ(laid_out(block.metadata()), laid_out(all));
  }
}

TEST(SharedDefinitionsProperty, TakesTheOrderOfTheFirstRank) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Metadata all = test::random_metadata(Kind::kCdf5, random);
    SharedDefinitions block("b");
    ASSERT_TRUE(block.add(0, all).ok());
    const Metadata other = shuffled(all, random);
    const auto ids = block.add(1, other);
    ASSERT_TRUE(ids.ok()) << ids.status().message();
    EXPECT_EQ(test::difference(block.metadata(), all), "");
    for (DimId id = 0; id < other.dimension_count(); ++id)
      EXPECT_EQ(all.dimension(ids->dimensions[id]).name, other.dimension(id).name);
    for (VarId id = 0; id < other.variable_count(); ++id)
      EXPECT_EQ(all.variable(ids->variables[id]).name, other.variable(id).name);
  }
}

// One value, type or length of one object changed must be found, whichever it is.
TEST(SharedDefinitionsProperty, FindsEveryChange) {
  std::uint64_t changes = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Metadata all = test::random_metadata(Kind::kCdf5, random);
    for (VarId id = 0; id < all.variable_count(); ++id) {
      const auto is_refused = [&](const Metadata& changed) {
        SharedDefinitions block("b");
        EXPECT_TRUE(block.add(0, all).ok());
        ++changes;
        return block.add(1, changed).status().code() == Code::kConflict;
      };
      Metadata changed = all;
      changed.set_type(id, static_cast<Type>(static_cast<int>(all.variable(id).type) % 11 + 1));
      EXPECT_TRUE(is_refused(changed));
      std::vector<Attribute> attributes;
      all.for_each_attribute(id, [&](const Attribute& a) { attributes.push_back(a); });
      for (const Attribute& a : attributes) {
        if (a.values.empty()) continue;
        std::vector<std::byte> values(a.values.begin(), a.values.end());
        values[random() % values.size()] ^= static_cast<std::byte>(1 << random() % 8);
        changed = all;
        ASSERT_TRUE(changed.put_att(id, a.name, a.type, values).ok());
        EXPECT_TRUE(is_refused(changed));
      }
    }
  }
  EXPECT_GT(changes, 1000u);
}

}  // namespace
}  // namespace nmb
