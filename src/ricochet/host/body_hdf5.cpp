#include "ricochet/host/body_hdf5.h"

#include <algorithm>

#include "ricochet/host/hdf5.h"

namespace ricochet::host {

std::string hdf5_of(const std::vector<record::BodySnapshot>& series, const SeriesBodies& of) {
  const Silence silence;
  Writer writer;
  std::vector<double> times;
  std::vector<double> places;
  std::vector<double> rates;
  std::vector<double> there;
  std::string lines;
  for (const std::string& name : of.names) lines += name + "\n";
  for (const record::BodySnapshot& shot : series) {
    times.push_back(shot.t);
    places.insert(places.end(), shot.places.begin(), shot.places.end());
    rates.insert(rates.end(), shot.rates.begin(), shot.rates.end());
    there.insert(there.end(), shot.is_there.begin(), shot.is_there.end());
  }
  const hsize_t instants = series.size();
  const hsize_t bodies = of.names.size();
  const hsize_t cells = std::max<hsize_t>(1, instants * bodies);
  writer.numbers("t", times.data(), times.size());
  writer.table("place", places, {instants, bodies, places.size() / cells});
  writer.table("rate", rates, {instants, bodies, rates.size() / cells});
  writer.table("there", there, {instants, bodies});
  writer.numbers("mass", of.masses.data(), of.masses.size());
  writer.text("names", lines);
  return writer.bytes();
}

std::string hdf5_of(const std::vector<record::ContactSnapshot>& series) {
  using Contact = record::ContactSnapshot::Contact;
  const Silence silence;
  Writer writer;
  std::vector<double> times;
  std::vector<int> start = {0};
  for (const record::ContactSnapshot& shot : series) {
    times.push_back(shot.t);
    start.push_back(start.back() + static_cast<int>(shot.contacts.size()));
  }
  const auto gather = [&]<class Number>(Number Contact::*what) {
    std::vector<Number> all;
    for (const record::ContactSnapshot& shot : series) {
      for (const Contact& one : shot.contacts) all.push_back(one.*what);
    }
    return all;
  };
  const auto vectors = [&](const char* key, std::array<double, 3> Contact::*what) {
    std::vector<double> flat;
    for (const auto& v : gather(what)) flat.insert(flat.end(), v.begin(), v.end());
    writer.table(key, flat, {flat.size() / 3, 3});
  };
  const auto numbers = [&](const char* key, double Contact::*what) {
    const std::vector<double> all = gather(what);
    writer.numbers(key, all.data(), all.size());
  };
  writer.numbers("t", times.data(), times.size());
  writer.integers("start", start);
  vectors("at", &Contact::at);
  vectors("normal", &Contact::normal);
  vectors("impulse", &Contact::impulse);
  vectors("moment", &Contact::moment);
  numbers("impulse_n", &Contact::impulse_n);
  numbers("gap", &Contact::gap);
  writer.integers("a", gather(&Contact::a));
  writer.integers("b", gather(&Contact::b));
  writer.integers("state", gather(&Contact::state));
  return writer.bytes();
}

}  // namespace ricochet::host
