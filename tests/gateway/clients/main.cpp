// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
//
// Tries the C++ client on a gateway: `send PORT TOKEN` sends until it is stopped, `read PORT COUNT` prints samples.
#include "gazeveil_client.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

int main(int count, char** words) {
    if (count != 4) return 2;
    const std::string what = words[1];
    const int port = std::atoi(words[2]);
    try {
        if (what == "send") {
            gazeveil::Sender sender("127.0.0.1", port, words[3]);
            const auto begun = std::chrono::steady_clock::now();
            for (int n = 0;; ++n) {
                const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begun;
                const gazeveil::Vector gaze{0.123456, 0.0, 1.0}, head{0.0, 0.0, 1.0};
                if (n % 10 == 9) sender.send(passed.count(), std::nullopt, head);
                else sender.send(passed.count(), gaze, head);
                std::this_thread::sleep_for(std::chrono::milliseconds(10));
            }
        }
        gazeveil::Reader reader("127.0.0.1", port);
        for (int left = std::atoi(words[3]); left > 0; --left) {
            const auto sample = reader.next();
            if (!sample) break;
            std::printf("%.6f %.6f %.6f %d %.6f %.6f\n", sample->t, sample->x, sample->y, sample->valid,
                        sample->head_yaw, sample->head_pitch);
        }
        std::printf("guarantee %s\n", reader.guarantee().c_str());
    } catch (const gazeveil::Error& error) {
        std::printf("error %s\n", error.what());
        return 1;
    }
    return 0;
}
