# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Pupil Labs' real-time API, which the phones of Neon and Invisible speak.

The status, over HTTP or as updates over WebSocket, names the port of gaze; RTSP, RTP and RTCP carry it. `neon_phone`
has both sides, `rtsp` the bytes.
"""

from __future__ import annotations

from typing import Final

from gazeveil.gateway.protocol import PROTOCOLS, Protocol
from gazeveil.gateway.protocols.neon_phone import NeonSink, NeonSource
from gazeveil.gateway.sample import ORIGINS

LEAVES: Final = {
    "x": "The veiled point, in pixels of the scene camera of the glasses.",
    "y": "The veiled point, in pixels of the scene camera of the glasses.",
    "worn": "Made up: true where the veil shows a point, false where it shows none.",
    "timestamp": "The device's time is public; shown on the gateway's clock. Of an event: as the app itself sent it.",
    "event_type": "Of a fixation, or that the stream is alive.",
    "start_time_ns": "Of a fixation found in veiled points.",
    "end_time_ns": "Of a fixation found in veiled points.",
    "start_gaze_x, start_gaze_y, end_gaze_x, end_gaze_y, mean_gaze_x, mean_gaze_y": "The veiled fixation's place.",
    "amplitude_pixels, amplitude_angle_deg, mean_velocity, max_velocity": "Always 0.",
    "model": "Names the part of the status.",
    "data": "Holds the part of the status.",
    "message": "That a request was understood, or why there is no gaze; never about gaze.",
    "result": "Holds the parts of the status, or the time of an event.",
    "ip": "Under which name the app itself has reached the gateway.",
    "port": "At which port the app itself has reached the gateway.",
    "time_echo_port": "At which port the app itself has reached the gateway.",
    "device_name": "The app's own name, or what the policy says in its place.",
    "version": "Made up: Neon, or Invisible if the policy counts gaze in its pixels.",
    **dict.fromkeys(("device_id", "glasses_serial", "module_serial", "world_camera_serial"), "Always gazeveil."),
    "battery_level": "Always 100.",
    "battery_state": "Always OK.",
    "memory": "Always the same.",
    "memory_state": "Always OK.",
    "sensor": "Gaze, or eye events where only fixations may leave.",
    "conn_type": "Always DIRECT.",
    "protocol": "Always rtspt: gaze comes over the connection itself.",
    "params": "The address of the stream; the same for every participant.",
    "connected": "Whether the app may have this stream.",
    "stream_error": "Whether the stream has ended.",
    "action": "That the stream has ended.",
    "id": "Always empty.",
    "rec_duration_ns": "Always 0.",
    "recording_id": "Always null: events of the app are kept nowhere.",
}
WITHHELD: Final = {
    "pupil_diameter_*": "Pupil size is not veiled.",
    "eyeball_center_*": "Positions of the eyes: a biometric.",
    "optical_axis_*": "Raw direction of each eye.",
    "eyelid_*": "Blinks and sleepiness are raw.",
    "left, right": "Raw points of each eye.",
    "scene video": "Shows what the participant sees, and other people.",
    "eye videos": "Images of the eyes: a biometric.",
    "audio": "What is spoken around the participant.",
    "imu": "Pose and motion of the head.",
    "blinks, saccades": "The tracker's own events are raw.",
    "calibration.bin": "Of the cameras of this very device: it names the device.",
    "template_def, template_data": "What was written down about the participant.",
    "NetworkDevice": "Other phones nearby.",
    "Event": "What other clients and the tracker say may say something of the participant.",
    "serial numbers, names and addresses of phone and glasses": "They name the device.",
    "battery and memory of the phone": "They show how long it was used.",
}

PROTOCOLS.register("neon")(
    Protocol(
        name="neon",
        title="Pupil Labs real-time API (Neon, Invisible)",
        port=8080,
        leaves=LEAVES,
        withheld=WITHHELD,
        source=NeonSource,
        sink=NeonSink,
        outputs=frozenset({"samples", "fixations"}),
        link="rtsp",
        knows=frozenset({ORIGINS}),
    )
)
