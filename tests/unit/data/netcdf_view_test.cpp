// Blocks from HDF5 as netCDF-C would show them.
#include "netcdf/netcdf_view.h"

#include <gtest/gtest.h>

#include "support/extended_dataset.h"

namespace nmb::test {
namespace {

constexpr char kNoVariable[] = "This is a netCDF dimension but not a netCDF variable.         2";

// "time(time) v(time, x): time=3* x=2"; dimensions that may grow have a *.
std::string shown(const NetcdfView& view) {
  std::string out;
  for (const NetcdfView::Variable& v : view.variables) {
    out += (out.empty() ? "" : " ") + v.name + "(";
    for (std::size_t i = 0; i < v.dimensions.size(); ++i)
      out += (i ? ", " : "") + view.dimensions[v.dimensions[i]].name;
    out += ")";
  }
  out += ":";
  for (const NetcdfView::Dimension& d : view.dimensions)
    out += " " + d.name + "=" + std::to_string(d.length) + (d.may_grow ? "*" : "");
  return out;
}

TEST(NetcdfView, BlockWithoutMarksKeepsNamesAndAttributes) {
  ExtendedDataset made;
  const DimId x = made.dimension("phony_dim_0", 2), y = made.dimension("phony_dim_1", 0, true);
  const VarId v = made.variable("_nc4_non_coord_v", Type::kInt, {y, x}, {});
  made.text(v, "CLASS", "IMAGE");
  const NetcdfView view = netcdf_view(*made.dataset());
  EXPECT_FALSE(view.is_netcdf);
  EXPECT_EQ(shown(view),
            "_nc4_non_coord_v(phony_dim_0, phony_dim_1): phony_dim_0=0* phony_dim_1=2");
  EXPECT_FALSE(view.hides(v, "CLASS"));
}

TEST(NetcdfView, PlaceWithoutScaleTakesTheFirstDimensionOfItsLength) {
  ExtendedDataset made;
  const DimId a = made.dimension("phony_dim_0", 3), b = made.dimension("phony_dim_1", 3, true),
              x = made.dimension("x", 3);
  made.unwritten("v", Type::kInt, {a, a, b});
  made.unwritten("w", Type::kInt, {a});
  const VarId y = made.unwritten("y", Type::kInt, {a, x});
  made.scales(y, {"", "/x"});
  made.scale(made.unwritten("x", Type::kFloat, {x}), "x", 4);
  EXPECT_EQ(shown(netcdf_view(*made.dataset())),
            "v(x, phony_dim_5, phony_dim_6) w(x) y(phony_dim_5, x) x(x): "
            "x=3 phony_dim_5=3 phony_dim_6=3*");
}

// Behind all scales; groups of a group by name, ahead of it.
TEST(NetcdfView, MadeUpNumbersCountTheGroupsOfAFile) {
  const auto group = [](const char* name, bool has_scale) {
    ExtendedDataset made;
    const DimId a = made.dimension("phony_dim_0", 3), x = made.dimension("x", 5);
    made.unwritten("v", Type::kInt, {a, a});
    if (has_scale) made.scale(made.unwritten("x", Type::kFloat, {x}), "x", 4);
    Dataset dataset = *made.dataset();
    dataset.name = name;
    return dataset;
  };
  MadeUpNumbers numbers;
  for (const char* name : {"", "b", "a/c", "a"})
    ASSERT_TRUE(numbers.add(group(name, std::string(name) == "b")).ok());
  const MadeUpNumbers::First expected{{"a/c", 5}, {"a", 7}, {"b", 9}, {"", 11}};
  EXPECT_EQ(numbers.first(), expected);
  EXPECT_EQ(shown(netcdf_view(group("a", false), nullptr, 7)),
            "v(phony_dim_7, phony_dim_8): x=5 phony_dim_7=3 phony_dim_8=3");
}

// As netCDF-C has it, which asks the first place alone for scales; by itself a block keeps them.
TEST(NetcdfView, FirstPlaceWithoutScaleMeansNone) {
  ExtendedDataset made;
  const DimId a = made.dimension("phony_dim_0", 2), x = made.dimension("x", 3),
              y = made.dimension("y", 3), far = made.dimension("far", 4);
  made.scale(made.unwritten("x", Type::kFloat, {x}), "x", 0);
  made.scale(made.unwritten("y", Type::kFloat, {y}), "y", 1);
  made.scales(made.unwritten("v", Type::kInt, {a, y, far}), {"", "/y", "/g/far"});
  EXPECT_EQ(shown(netcdf_view(*made.dataset())),
            "x(x) y(y) v(phony_dim_2, y, far): x=3 y=3 far=4 phony_dim_2=2");
  EXPECT_EQ(shown(netcdf_view(*made.dataset(), nullptr, 2)),
            "x(x) y(y) v(phony_dim_2, x, phony_dim_3): x=3 y=3 phony_dim_2=2 phony_dim_3=4");
}

// netCDF-C takes a dimension of length 0 for an unlimited one.
TEST(NetcdfView, PlacesOfLengthZeroShareNoDimension) {
  ExtendedDataset made;
  const DimId a = made.dimension("phony_dim_0", 0);
  made.unwritten("v", Type::kInt, {a});
  made.unwritten("w", Type::kInt, {a});
  EXPECT_EQ(shown(netcdf_view(*made.dataset(), nullptr, 0)),
            "v(phony_dim_0) w(phony_dim_1): phony_dim_0=0 phony_dim_1=0");
}

TEST(NetcdfView, DimensionWithoutVariableIsNone) {
  ExtendedDataset made;
  const DimId x = made.dimension("x", 2);
  const VarId scale = made.unwritten("x", Type::kFloat, {x});
  made.scale(scale, kNoVariable, 0);
  const VarId v = made.unwritten("_nc4_non_coord_x", Type::kInt, {x});
  made.ints(v, "_Netcdf4Coordinates", {0});
  made.scales(v, {"/x"});
  made.text(v, "NAME", "mine");
  const NetcdfView view = netcdf_view(*made.dataset());
  EXPECT_TRUE(view.is_netcdf);
  EXPECT_EQ(shown(view), "x(x): x=2");
  for (const char* name : {"CLASS", "NAME", "_Netcdf4Dimid"})
    EXPECT_TRUE(view.hides(scale, name)) << name;
  for (const char* name : {"DIMENSION_LIST", "_Netcdf4Coordinates", "REFERENCE_LIST"})
    EXPECT_TRUE(view.hides(v, name)) << name;
  EXPECT_TRUE(view.hides(kGlobal, "_NCProperties"));
  EXPECT_TRUE(view.hides(kGlobal, "_nc3_strict"));
  EXPECT_FALSE(view.hides(v, "NAME"));
  EXPECT_FALSE(view.hides(v, "units"));
  EXPECT_FALSE(view.hides(kGlobal, "CLASS"));
}

TEST(NetcdfView, DimensionsAreInTheirOrder) {
  ExtendedDataset made;
  const DimId b = made.dimension("b", 2), c = made.dimension("c", 3), a = made.dimension("a", 4);
  made.scale(made.unwritten("b", Type::kFloat, {b}), kNoVariable, 1);
  made.scale(made.unwritten("a", Type::kFloat, {a}), kNoVariable, 0);
  made.unwritten("v", Type::kInt, {b, c});
  EXPECT_EQ(shown(netcdf_view(*made.dataset())), "v(b, c): a=4 b=2 c=3");
}

// Data sets that share a scale that may grow have lengths of their own.
TEST(NetcdfView, LengthIsThatOfTheLongestVariable) {
  for (const bool by_id : {true, false}) {
    ExtendedDataset made;
    const DimId time = made.dimension("time", 0, true), time_2 = made.dimension("time_2", 5, true),
                time_3 = made.dimension("time_3", 3, true);
    made.scale(made.unwritten("time", Type::kDouble, {time}), "time", 0);
    const VarId v = made.unwritten("v", Type::kInt, {time_2}),
                w = made.unwritten("w", Type::kInt, {time_3});
    for (const VarId variable : {v, w}) {
      if (by_id)
        made.ints(variable, "_Netcdf4Coordinates", {0});
      else
        made.scales(variable, {"/time"});
    }
    EXPECT_EQ(shown(netcdf_view(*made.dataset())), "time(time) v(time) w(time): time=5*") << by_id;
  }
}

TEST(NetcdfView, UnusedDimensionThatMayGrowHasLengthZero) {
  ExtendedDataset made;
  const DimId time = made.dimension("time", 7, true);
  made.scale(made.unwritten("time", Type::kFloat, {time}), kNoVariable, 0);
  EXPECT_EQ(shown(netcdf_view(*made.dataset())), ": time=0*");
}

// A dimension that nothing uses has no length with which others must agree.
TEST(NetcdfView, UnusedDimensionsAreNotAmongTheLengths) {
  ExtendedDataset made;
  const DimId time = made.dimension("time", 7, true), level = made.dimension("level", 3, true);
  made.scale(made.unwritten("time", Type::kFloat, {time}), kNoVariable, 0);
  made.scale(made.unwritten("level", Type::kFloat, {level}), "level", 1);
  DimensionLengths lengths;
  add_dimension_lengths(*made.dataset(), &lengths);
  EXPECT_EQ(lengths, (DimensionLengths{{"/level", 3}}));
}

// The dimension of an outer group, and an own one of that name.
TEST(NetcdfView, GroupUsesDimensionsOfOthers) {
  ExtendedDataset made;
  const DimId x = made.dimension("x", 2), x_2 = made.dimension("x_2", 9),
              t = made.dimension("t", 1);
  made.scale(made.unwritten("x", Type::kFloat, {x}), kNoVariable, 5);
  const VarId v = made.unwritten("v", Type::kInt, {t, x_2});
  made.scales(v, {"/t", "/x"});
  EXPECT_EQ(shown(netcdf_view(*made.dataset("g"))), "v(t, x_2): x=2 x_2=9 t=1");
}

TEST(NetcdfView, FixedLengthsThatDisagreeStayApart) {
  ExtendedDataset made;
  const DimId short_x = made.dimension("x", 3), long_x = made.dimension("x_2", 4);
  const VarId z = made.unwritten("z", Type::kInt, {short_x});
  made.scales(z, {"/x"});
  made.scale(made.unwritten("x", Type::kFloat, {long_x}), "x", 0);
  EXPECT_EQ(shown(netcdf_view(*made.dataset())), "z(x_2) x(x): x=4 x_2=3");
}

TEST(NetcdfView, VariableOfTwoDimensionsMayBeAScale) {
  ExtendedDataset made;
  const DimId t = made.dimension("t", 2, true), phony = made.dimension("phony_dim_0", 4),
              x = made.dimension("x", 4);
  const VarId v = made.unwritten("t", Type::kDouble, {t, phony});
  made.scale(v, "t", 0);
  made.ints(v, "_Netcdf4Coordinates", {0, 1});
  made.scale(made.unwritten("x", Type::kFloat, {x}), kNoVariable, 1);
  EXPECT_EQ(shown(netcdf_view(*made.dataset())), "t(t, x): t=2* x=4");
}

TEST(NetcdfView, MarksThatAreNoneSayNothing) {
  ExtendedDataset made;
  const DimId x = made.dimension("x", 2);
  const VarId v = made.unwritten("v", Type::kInt, {x}), w = made.unwritten("w", Type::kInt, {x});
  made.text(v, "_Netcdf4Coordinates", "none");
  const Type reference = made.type(type_on(TypeClass::kReference, Type::kByte)),
             list = made.type(type_on(TypeClass::kVlen, reference));
  made.attribute(v, "DIMENSION_LIST", list, 1, little<std::uint64_t>({~std::uint64_t{0}, 8}));
  made.attribute(w, "DIMENSION_LIST", list, 1, little<std::uint64_t>({1, 16, 99, 8}));
  EXPECT_EQ(shown(netcdf_view(*made.dataset())), "v(x) w(x): x=2");
}

}  // namespace
}  // namespace nmb::test
