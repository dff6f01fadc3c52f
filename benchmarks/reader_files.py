# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Made-up recordings in the formats that are read, as large as wanted and in each maker's usual columns."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np

RATE_HZ = 120
STEP_US = 8333
TRIAL_SAMPLES = 1000


def table(folder: Path, samples: int) -> Path:
    rows = (f"{i / RATE_HZ:.6f},{_x(i)},{_y(i)}" for i in range(samples))
    return _put(folder / "table.csv", "t,x,y", rows)


def tobii_tsv(folder: Path, samples: int) -> Path:
    header = (
        "Recording timestamp [μs]",
        "Sensor",
        "Participant name",
        "Recording name",
        "Recording resolution width [px]",
        "Recording resolution height [px]",
        *(f"Gaze point{eye} {axis} [DACS px]" for eye in ("", " left", " right") for axis in "XY"),
        "Pupil diameter left [mm]",
        "Pupil diameter right [mm]",
        "Validity left",
        "Validity right",
        "Presented Stimulus name",
        "Eye movement type",
        "Eye movement type index",
    )
    rows = (
        f"{STEP_US * i}\tEye Tracker\tP01\tRecording1\t1920\t1080\t{_x(i)}\t{_y(i)}\t{_x(i)}\t{_y(i)}\t{_x(i)}\t{_y(i)}"
        f"\t3.{i % 91:02d}\t3.{i % 83:02d}\tValid\tValid\tscene.png\tFixation\t{i // 30}"
        for i in range(samples)
    )
    return _put(folder / "export.tsv", "\t".join(header), rows)


def gazepoint_csv(folder: Path, samples: int) -> Path:
    header = (
        "MEDIA_ID,MEDIA_NAME,CNT,TIME(2026/01/01 10:00:00.000),TIMETICK(f=10000000),FPOGX,FPOGY,FPOGS,FPOGD,FPOGID,"
        "FPOGV,BPOGX,BPOGY,BPOGV"
    )
    rows = (
        f"0,scene,{i},{i / RATE_HZ:.5f},{i * 83333},0.5{i % 97:02d},0.5,{i // 20 / 6:.5f},{i % 20 / RATE_HZ:.5f},"
        f"{i // 20},1,{_fraction(i)},0.50{i % 89:02d},1"
        for i in range(samples)
    )
    return _put(folder / "User 1_all_gaze.csv", header, rows)


def pupil_core(folder: Path, samples: int) -> Path:
    rows = (
        f"{100 + i / RATE_HZ:.6f},{i // 4},0.98,{_fraction(i)},0.25,{100 + i / RATE_HZ:.6f}-0" for i in range(samples)
    )
    return _put(
        folder / "gaze_positions.csv", "gaze_timestamp,world_index,confidence,norm_pos_x,norm_pos_y,base_data", rows
    )


def pupil_cloud(folder: Path, samples: int) -> Path:
    header = "section id,recording id,timestamp [ns],gaze x [px],gaze y [px],worn,fixation id,blink id"
    rows = (f"s,r,{10**18 + 8_333_000 * i},{_x(i)},{_y(i)},1,{i // 40}," for i in range(samples))
    (folder / "info.json").write_text(json.dumps({"module_serial_number": "1", "wearer_name": "w"}))
    return _put(folder / "gaze.csv", header, rows)


def pupil_native(folder: Path, samples: int) -> Path:
    place = folder / "native"
    place.mkdir(exist_ok=True)
    (place / "info.json").write_text(json.dumps({"module_serial_number": "1"}))
    (10**18 + 5_000_000 * np.arange(samples)).astype("<i8").tofile(place / "gaze ps1.time")
    points = np.array([(_x(i), _y(i)) for i in range(0, samples, 997)], "<f4")
    np.resize(points, (samples, 2)).tofile(place / "gaze ps1.raw")
    return place


def tobii_sdk(folder: Path, samples: int) -> Path:
    sides = ("left", "right")
    header = ",".join(f"{side}_gaze_point_{what}" for side in sides for what in ("on_display_area", "validity"))
    rows = (f'{STEP_US * i},"({_fraction(i)}01, 0.41)",1,"({_fraction(i)}, 0.4{i % 89})",1' for i in range(samples))
    return _put(folder / "sdk.csv", f"device_time_stamp,{header}", rows)


def tobii_glasses_2(folder: Path, samples: int) -> Path:
    rows = (
        f'{{"ts":{STEP_US * i},"s":0,"gidx":{i},"pd":3.{i % 91:02d},"eye":"left"}}\n'
        f'{{"ts":{STEP_US * i},"s":0,"gidx":{i},"pd":3.{i % 83:02d},"eye":"right"}}\n'
        f'{{"ts":{STEP_US * i},"s":0,"gidx":{i},"l":8000,"gp":[{_fraction(i)},0.41{i % 97:02d}]}}'
        for i in range(samples)
    )
    return _put(folder / "livedata.json", "", rows)


def tobii_glasses_3(folder: Path, samples: int) -> Path:
    eye = '{{"gazeorigin":[28.8,-8.1,-20.1],"gazedirection":[0.0123,0.1,0.99],"pupildiameter":3.{:02d}}}'
    rows = (
        f'{{"type":"gaze","timestamp":{i / RATE_HZ:.6f},"data":{{"gaze2d":[{_fraction(i)},0.41{i % 97:02d}],'
        f'"gaze3d":[-10.5,20.25,800.{i % 10}],"eyeleft":{eye.format(i % 91)},"eyeright":{eye.format(i % 83)}}}}}'
        for i in range(samples)
    )
    return _put(folder / "gazedata", "", rows)


def jspsych(folder: Path, samples: int) -> Path:
    trials = (
        f'{{"trial_type":"image","trial_index":{trial},"stimulus":"p{trial}.png","webgazer_data":['
        + ",".join(f'{{"x":{900 + i % 97},"y":{500 + i % 89},"t":{33 * i}}}' for i in range(TRIAL_SAMPLES))
        + "]}"
        for trial in range(samples // TRIAL_SAMPLES)
    )
    path = folder / "data.json"
    path.write_text(f"[{','.join(trials)}]")
    return path


def smi_text(folder: Path, samples: int) -> Path:
    preamble = "## [iView]\n## Sample Rate:\t120\n## Subject:\tp7\n## Calibration Area:\t1920\t1080\n##\n"
    header = (
        "Time\tType\tTrial\tL POR X [px]\tL POR Y [px]\tR POR X [px]\tR POR Y [px]\tL Mapped Diameter [mm]\tL Validity"
    )
    rows = (f"{STEP_US * i}\tSMP\t1\t{_x(i)}\t{_y(i)}\t{_x(i)}\t{_y(i)}\t3.{i % 91:02d}\t1" for i in range(samples))
    return _put(folder / "p7_Samples.txt", preamble + header, rows)


def pygaze(folder: Path, samples: int) -> Path:
    header = "timestamp time fix state rawx rawy avgx avgy psize Lrawx Lrawy Lpsize Rrawx Rrawy Rpsize".replace(
        " ", "\t"
    )
    rows = (
        f"2016-05-14 17:34:31.{i % 1000:03d}\t{16 * i}\tFalse\t7\t{_x(i)}\t{_y(i)}\t{_x(i)}\t{_y(i)}\t20.{i % 97}"
        f"\t{_x(i)}\t{_y(i)}\t21.{i % 89}\t{_x(i)}\t{_y(i)}\t20.{i % 83}"
        for i in range(samples)
    )
    return _put(folder / "pygaze.tsv", header, rows)


def varjo(folder: Path, samples: int) -> Path:
    eyes = ",".join(
        f"{eye}_forward_x,{eye}_forward_y,{eye}_forward_z,{eye}_pupil_size,{eye}_status" for eye in ("left", "right")
    )
    header = (
        "raw_timestamp,relative_to_video_first_frame_timestamp,focus_distance,status,"
        f"gaze_forward_x,gaze_forward_y,gaze_forward_z,{eyes}"
    )
    rows = (
        f"{10**18 + 8_333_000 * i},{8_333_000 * i},2,2,{_part(i)},0.{i % 83:02d},0.98,"
        f"{_part(i)},0.1,0.98,0.{i % 91:02d},3,{_part(i)},0.1,0.98,0.{i % 89:02d},3"
        for i in range(samples)
    )
    return _put(folder / "varjo_gaze_output.csv", header, rows)


def vive(folder: Path, samples: int) -> Path:
    header = ["time(100ns)", "time_stamp(ms)", "frame", "eye_valid_L", "eye_valid_R", "pupil_diameter_L(mm)"]
    header += ["pupil_diameter_R(mm)"] + [f"gaze_origin_{eye}.{axis}(mm)" for eye in "LR" for axis in "xyz"]
    header += [f"gaze_direct_{eye}.{axis}" for eye in "LR" for axis in "xyz"]
    rows = (
        f"{638342794000000000 + 83333 * i};{8 * i};{i};31;31;3.{i % 91:02d};3.{i % 83:02d};32.1;1.5;-30.2;"
        f"-32.4;1.5;-30.1;{_part(i)};0.1;0.98;{_part(i)};0.0{i % 89:02d};0.98"
        for i in range(samples)
    )
    return _put(folder / "eyes.csv", ";".join(header), rows)


def gazebase(folder: Path, samples: int) -> Path:
    rows = (f"{i},-1.{i % 997:03d},2.{i % 991:03d},0,NaN,NaN,3{i % 97:02d},0" for i in range(samples))
    return _put(folder / "S_2007_S1_TEX.csv", "n,x,y,val,xT,yT,dP,lab", rows)


FILES: Mapping[str, Callable[[Path, int], Path]] = {
    "CSV table (t, x, y)": table,
    "Gazepoint CSV": gazepoint_csv,
    "Pupil Core": pupil_core,
    "Pupil Cloud": pupil_cloud,
    "Pupil Neon, native": pupil_native,
    "Tobii Pro SDK": tobii_sdk,
    "Tobii Glasses 2": tobii_glasses_2,
    "Tobii Glasses 3": tobii_glasses_3,
    "jsPsych WebGazer JSON": jspsych,
    "SMI text": smi_text,
    "PyGaze log of the Eye Tribe": pygaze,
    "Varjo Base CSV": varjo,
    "Vive Pro Eye CSV (SRanipal)": vive,
    "GazeBase": gazebase,
}


def _x(i: int) -> str:
    return f"{900 + i % 97}.{i % 10}"


def _y(i: int) -> str:
    return f"{500 + i % 89}.{i % 7}"


def _fraction(i: int) -> str:
    return f"0.5{i % 997:03d}"


def _part(i: int) -> str:
    return f"0.0{i % 997:03d}"


def _put(path: Path, header: str, rows: Iterator[str]) -> Path:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"{header}\n" if header else "")
        file.writelines(f"{row}\n" for row in rows)
    return path
