# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a running gateway tells about itself: the hub's words, what was counted, and what participants decided.

Never gaze.
"""

from __future__ import annotations

from typing import Any, Final

from gazeveil.gateway.hub import Hub
from gazeveil.gateway.memory import Memory
from gazeveil.gateway.meters import Meters
from gazeveil.gateway.policy import Policy
from gazeveil.gateway.sources import Sources

_APP_COUNTS: Final = ("connections", "listeners", "refused_origins", "sent", "dropped", "refused")
_TRACKER_COUNTS: Final = ("connected", "samples", "connects", "refused", "refused_origins", "refused_tokens")


def status_of(hub: Hub, policy: Policy, meters: Meters, memory: Memory, sources: Sources) -> dict[str, Any]:
    """Return everything there is to tell; the policy is the one in the file, whatever was chosen live."""
    told = hub.status().to_dict()
    people = {tracker["name"]: tracker["person"] for tracker in told["trackers"]}
    budgets = {budget["person"]: budget for budget in told["budgets"]}
    for app in told["apps"]:
        meter = meters.apps[app["name"]]
        app |= {name: getattr(meter, name) for name in _APP_COUNTS}
        app |= {
            "tags": memory.tags.get(app["name"], []),
            "latency_ms": {name: meter.latency.share_ms(share) for name, share in (("p50", 0.5), ("p99", 0.99))},
            "budget": _of_person(budgets.get(people[app["tracker"]])),
        }
    for tracker in told["trackers"]:
        counts = meters.trackers[tracker["name"]]
        tracker |= {name: getattr(counts, name) for name in _TRACKER_COUNTS}
        tracker["source"] = sources.source_of(policy.tracker(tracker["name"]))
    told["control_refused"] = dict(meters.control_refused)
    told["state_file"] = None if memory.path is None else str(memory.path)
    return told


def _of_person(budget: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return what is left for the participant whose gaze an app gets; None where nothing is charged."""
    if budget is None:
        return None
    return {
        "left": budget["remaining"],
        "per_day": budget["epsilon_per_day"],
        "spent": budget["spent"],
        "back": budget["back"],
    }
