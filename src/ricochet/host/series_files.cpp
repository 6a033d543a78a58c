#include "ricochet/host/series_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "ricochet/base/error.h"
#include "ricochet/base/text.h"
#include "ricochet/host/body_hdf5.h"
#include "ricochet/plot/body_files.h"
#include "ricochet/plot/vtp_text.h"
#include "ricochet/record/value_table.h"

namespace ricochet::host {
namespace {

using WriteSeries = std::function<void(const std::string&, const std::string&)>;

/// A .vtp for each instant, and the .pvd that names them all.
template <class Shots, class Text>
std::string write_vtk(const char* stem, const Shots& shots, const WriteSeries& write,
                      Text&& text_of) {
  std::vector<double> times;
  std::vector<std::string> files;
  for (const auto& shot : shots) {
    times.push_back(shot.t);
    files.push_back(fmt::format("{}-{:05}.vtp", stem, files.size()));
    write(files.back(), text_of(shot));
  }
  write(fmt::format("{}.pvd", stem), plot::pvd_of(times, files));
  return fmt::format("{}.pvd ({})", stem,
                     base::counted(static_cast<long long>(files.size()), "file"));
}

SeriesBodies series_bodies(const scene::WorldPart& part) {
  SeriesBodies made;
  part.visit([&](const auto& world) {
    for (const auto& body : world.bodies) {
      made.names.push_back(body.name);
      made.masses.push_back(body.is_free() ? body.mass : 0.0);
    }
  });
  return made;
}

std::string write_bodies(const scene::WorldPart& part, const record::WorldRecord& record,
                         const WriteSeries& write) {
  if (part.write_bodies.hdf5) {
    write("bodies-series.h5", hdf5_of(record.body_series, series_bodies(part)));
    return "bodies-series.h5";
  }
  const auto surfaces = plot::surfaces_of(part, record.frames);
  return write_vtk("bodies", record.body_series, write, [&](const record::BodySnapshot& shot) {
    return plot::vtp_of(part, surfaces, shot);
  });
}

std::string write_contacts(const scene::WorldPart& part, const record::WorldRecord& record,
                           const WriteSeries& write) {
  if (part.write_contacts.hdf5) {
    write("contacts-series.h5", hdf5_of(record.contact_series));
    return "contacts-series.h5";
  }
  return write_vtk("contacts", record.contact_series, write,
                   [](const record::ContactSnapshot& shot) { return plot::vtp_of(shot); });
}

}  // namespace

void check_series(const scene::Scene& scene) {
  const scene::WorldPart* part = scene.world();
  if (part == nullptr) return;
  constexpr double kOfBody = 14.0;     // numbers
  constexpr double kOfContact = 60.0;  // three contacts a body
  const double bodies = part->visit([](const auto& world) { return 1.0 * world.count(); });
  const auto check = [&](const scene::SeriesPlan& plan, const char* key, double each) {
    if (!plan.exists()) return;
    const double instants =
        static_cast<double>(scene.run.steps) / static_cast<double>(plan.stride) + 2.0;
    const double numbers = instants * bodies * each;
    if (numbers <= record::ValueTable::kMost) return;
    throw base::InputError(
        key,
        fmt::format("{:.2g} numbers are more than series are made of here ({:.0e})", numbers,
                    record::ValueTable::kMost),
        "write a larger `every`");
  };
  check(part->write_bodies, "write.bodies.every", kOfBody);
  check(part->write_contacts, "write.contacts.every", kOfContact);
}

std::string write_series(const study::Motion& motion, const WriteSeries& write) {
  const scene::WorldPart* part = motion.scene.world();
  if (part == nullptr || !motion.world) return "";
  std::string told;
  if (part->write_bodies.exists()) told = write_bodies(*part, *motion.world, write);
  if (part->write_contacts.exists()) {
    told += (told.empty() ? "" : ", ") + write_contacts(*part, *motion.world, write);
  }
  return told;
}

bool is_of_series(const std::string& name) {
  for (const std::string head : {"bodies", "contacts"}) {
    if (!name.starts_with(head)) continue;
    const std::string tail = name.substr(head.size());
    if (tail == ".pvd" || tail == "-series.h5") return true;
    if (tail.size() < 10 || tail[0] != '-' || !tail.ends_with(".vtp")) continue;
    return std::all_of(tail.begin() + 1, tail.end() - 4,
                       [](char c) { return c >= '0' && c <= '9'; });
  }
  return false;
}

}  // namespace ricochet::host
