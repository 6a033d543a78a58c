#pragma once

#include "ricochet/step/body_contacts.h"
#include "ricochet/step/body_ends.h"
#include "ricochet/step/body_joints.h"
#include "ricochet/step/body_neighbours.h"
#include "ricochet/step/body_problem.h"
#include "ricochet/step/body_projection.h"
#include "ricochet/step/body_step.h"
#include "ricochet/step/body_turns.h"
#include "ricochet/step/moreau_bodies.h"
#include "ricochet/step/sleeping_bodies.h"

namespace ricochet::step {

/// What a step of bodies is made of; nobody but MoreauBodies knows it.
template <int D>
struct MoreauBodies<D>::Parts {
  Parts(const body::World<D>& world, const certify::Limits& limits)
      : step(world, limits),
        sleeping(world),
        joints(world),
        contacts(world, limits, joints),
        neighbours(step, sleeping),
        projection(step, neighbours, contacts, joints, sleeping),
        turns(step, contacts, joints),
        problem(step, neighbours, contacts, joints, turns, sleeping),
        ends(step, contacts, joints, sleeping) {}

  BodyStep<D> step;
  SleepingBodies<D> sleeping;
  BodyJoints<D> joints;
  BodyContacts<D> contacts;
  BodyNeighbours<D> neighbours;
  BodyProjection<D> projection;
  BodyTurns<D> turns;
  BodyProblem<D> problem;
  BodyEnds<D> ends;
};

}  // namespace ricochet::step
