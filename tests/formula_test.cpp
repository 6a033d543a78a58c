// The language: what texts mean, and what is said about wrong ones.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "ricochet/formula/lower.h"
#include "ricochet/formula/syntax.h"

namespace ricochet::formula::formula_test {
namespace {

/// x = input 0, y = input 1, x' = input 2, z[1..3] = inputs 3..5, R = 2.
class Formula : public ::testing::Test {
 protected:
  Formula() {
    scope_.define("x", graph_.input(0));
    scope_.define("y", graph_.input(1));
    scope_.define("x'", graph_.input(2));
    scope_.define_family("z", {1, {graph_.input(3), graph_.input(4), graph_.input(5)}});
    scope_.define("R", graph_.constant(2.0));
    scope_.define("N", graph_.constant(3.0));
    scope_.forbid("t", "time has no place here");
  }

  double value(const std::string& text, double x = 0.7, double y = -1.3) {
    return graph_.evaluate(lower(parse(text), scope_, graph_), {x, y, 5.0, 10.0, 20.0, 30.0});
  }

  FormulaError error(const std::string& text) {
    try {
      (void)lower(parse(text), scope_, graph_);
    } catch (const FormulaError& found) {
      return found;
    }
    ADD_FAILURE() << "no error for: " << text;
    return FormulaError("", {});
  }

  Graph graph_;
  Scope scope_;
};

TEST_F(Formula, BindsAsInMathematics) {
  EXPECT_DOUBLE_EQ(value("1 + 2*3"), 7.0);
  EXPECT_DOUBLE_EQ(value("-x^2"), -0.49);
  EXPECT_DOUBLE_EQ(value("2^3^2"), 512.0);
  EXPECT_DOUBLE_EQ(value("2^-1"), 0.5);
  EXPECT_DOUBLE_EQ(value("8/4/2"), 1.0);
  EXPECT_DOUBLE_EQ(value("8 - 4 - 2"), 2.0);
  EXPECT_DOUBLE_EQ(value("-2^2"), -4.0);
  EXPECT_DOUBLE_EQ(value("2*-3"), -6.0);
  EXPECT_DOUBLE_EQ(value("not 1 > 2 and 3 > 2"), 1.0);
  EXPECT_DOUBLE_EQ(value("1 < 2 or 3 < 2"), 1.0);
}

TEST_F(Formula, KnowsNamesVelocitiesAndIndices) {
  EXPECT_DOUBLE_EQ(value("R*x"), 1.4);
  EXPECT_DOUBLE_EQ(value("x'"), 5.0);
  EXPECT_DOUBLE_EQ(value("z[2]"), 20.0);
  EXPECT_DOUBLE_EQ(value("z[N - 2]"), 10.0);
  EXPECT_DOUBLE_EQ(value("pi"), std::numbers::pi);
}

TEST_F(Formula, SumsOverIndices) {
  EXPECT_DOUBLE_EQ(value("sum(i, 1, N, i*z[i])"), 10.0 + 40.0 + 90.0);
  EXPECT_DOUBLE_EQ(value("sum(i, 1, 2, sum(j, 1, 2, i*10 + j))"), 11 + 12 + 21 + 22);
  EXPECT_DOUBLE_EQ(value("sum(i, 1, 2, i) + sum(i, 1, 3, i)"), 9.0);  // one after the other
  EXPECT_DOUBLE_EQ(value("sum(i, 3, 1, 1/0)"), 0.0);                  // empty
}

TEST_F(Formula, ChainsOfComparisonsHoldWhenAllDo) {
  EXPECT_DOUBLE_EQ(value("0 < x < 1"), 1.0);
  EXPECT_DOUBLE_EQ(value("0 < x < 0.5"), 0.0);
  EXPECT_DOUBLE_EQ(value("x != y"), 1.0);
  EXPECT_DOUBLE_EQ(value("x >= y"), 1.0);
}

TEST_F(Formula, KnowsItsFunctions) {
  const double x = 0.7;
  const double y = -1.3;
  EXPECT_DOUBLE_EQ(value("sin(x) + cos(x) + tan(x)"), std::sin(x) + std::cos(x) + std::tan(x));
  EXPECT_DOUBLE_EQ(value("asin(x) + acos(x) + atan(x)"),
                   std::asin(x) + std::acos(x) + std::atan(x));
  EXPECT_DOUBLE_EQ(value("atan2(y, x)"), std::atan2(y, x));
  EXPECT_DOUBLE_EQ(value("sinh(x)*cosh(x)*tanh(x)"), std::sinh(x) * std::cosh(x) * std::tanh(x));
  EXPECT_DOUBLE_EQ(value("exp(x) + log(x) + sqrt(x)"), std::exp(x) + std::log(x) + std::sqrt(x));
  EXPECT_DOUBLE_EQ(value("abs(y) + sign(y)"), 0.3);
  EXPECT_DOUBLE_EQ(value("min(x, y, 3) + max(x, y, 3)"), y + 3.0);
  EXPECT_DOUBLE_EQ(value("hypot(3, 4)"), 5.0);
  EXPECT_DOUBLE_EQ(value("if(x > y, 1, 2)"), 1.0);
  EXPECT_DOUBLE_EQ(value("if(R > 5, 1/0, 7)"), 7.0);  // a branch that a constant excludes
}

TEST_F(Formula, ReadsTheSignsOfPapers) {
  EXPECT_DOUBLE_EQ(value("2 \u2212 1"), 1.0);
  EXPECT_DOUBLE_EQ(value("2\u00B73"), 6.0);
  EXPECT_DOUBLE_EQ(value("x \u2264 1"), 1.0);
}

TEST_F(Formula, SuggestsTheNearestName) {
  scope_.define("radius", graph_.constant(1.0));
  const FormulaError found = error("x + raduis");
  EXPECT_STREQ(found.what(), "unknown name 'raduis'");
  EXPECT_EQ(found.extent().begin, 4);
  EXPECT_EQ(found.extent().length, 6);
  EXPECT_NE(found.remedy().find("did you mean 'radius'?"), std::string::npos);
  EXPECT_NE(error("sinn(x)").remedy().find("did you mean sin?"), std::string::npos);
}

TEST_F(Formula, SaysWhyANameHasNoPlace) {
  EXPECT_STREQ(error("x + t").what(), "'t' cannot be used here");
  EXPECT_EQ(error("x + t").remedy(), "time has no place here");
}

TEST_F(Formula, PointsAtEachKindOfFault) {
  struct Fault {
    const char* text;
    int begin;
    const char* word;
  };
  const std::vector<Fault> faults = {
      {"2 x", 2, "operator"},
      {"x +", 3, "too early"},
      {"(x", 2, "')'"},
      {"x)", 1, "not expected"},
      {"", 0, "empty"},
      {"x ? y", 2, "character"},
      {"x = y", 2, "'='"},
      {"x && y", 2, "sign"},
      {"sin(x, y)", 0, "1 argument"},
      {"min(x)", 0, "at least 2"},
      {"atan2(x)", 0, "2 arguments"},
      {"z", 0, "index"},
      {"x[1]", 0, "no index"},
      {"z[4]", 0, "outside"},
      {"z[1.5]", 2, "whole"},
      {"z[x]", 2, "number"},
      {"x''", 0, "derivative"},
      {"sum(i, 1, N)", 0, "sum(i"},
      {"sum(x, 1, 3, x)", 4, "already"},
      {"sum(R, 1, 3, R)", 4, "already"},
      {"sum(z, 1, 3, z)", 4, "already"},
      {"sum(t, 1, 3, t)", 4, "already"},
      {"sum(pi, 1, 3, pi)", 4, "already"},
      {"sum(sin, 1, 3, 1)", 4, "already"},
      {"sum(i, 1, 2, sum(i, 1, 2, i))", 17, "already"},
      {"1/(R - 2)", 0, "inf"},
      {"sqrt(-R)", 0, "nan"},
      {"1e999", 0, "hold"},
      {"frob(x)", 0, "function"},
      {"sin + 1", 0, "brackets"},
      {"R(x)", 0, "function"},
  };
  for (const Fault& fault : faults) {
    const FormulaError found = error(fault.text);
    EXPECT_NE(std::string(found.what()).find(fault.word), std::string::npos)
        << fault.text << " gave: " << found.what();
    EXPECT_EQ(found.extent().begin, fault.begin) << fault.text;
  }
}

TEST_F(Formula, GuardsAgainstFormulasThatGrow) {
  Graph small(1000);
  Scope scope;
  scope.define("x", small.input(0));
  const Syntax big = parse("sum(i, 1, 100000, sin(i*x))");
  EXPECT_THROW((void)lower(big, scope, small), FormulaError);
  EXPECT_NE(std::string(error("sum(i, 1, 1000000000, 1)").what()).find("terms"), std::string::npos);
  EXPECT_NE(std::string(error(std::string(5000, '(')).what()).find("nested"), std::string::npos);
  std::string sum = "x";
  for (int i = 0; i < 20000; ++i) sum += "+x";
  EXPECT_NE(std::string(error(sum).what()).find("words"), std::string::npos);
  std::string minus(100000, '-');
  EXPECT_NE(std::string(error(minus + "x").what()).find("nested"), std::string::npos);
}

TEST_F(Formula, TextOfAGraphMeansTheGraph) {
  for (const std::string text :
       {"x - (y - R)", "x/(y*R)", "-(x + y)^2", "(x + y)*(x - y)", "2^(x*y)", "(x^y)^R",
        "if(x < y, atan2(x, y), -x)", "x - (-y)", "1 - 2*x + y/3"}) {
    const NodeId node = lower(parse(text), scope_, graph_);
    const std::string printed = graph_.to_text(node, {"x", "y"});
    const NodeId again = lower(parse(printed), scope_, graph_);
    const std::vector<double> inputs = {0.7, 1.3, 0, 0, 0, 0};
    EXPECT_DOUBLE_EQ(graph_.evaluate(node, inputs), graph_.evaluate(again, inputs))
        << text << " printed as " << printed;
  }
}

}  // namespace
}  // namespace ricochet::formula::formula_test
