// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
//
// A client of a gazeveil gateway in one header, for Unreal or any C++17 program. No other library is needed.
//
//   gazeveil::Reader reader("127.0.0.1", 7381);      // veiled gaze: an app with protocol = "websocket"
//   while (auto sample = reader.next()) { ... }      // blocks: run it on a thread of its own
//
//   gazeveil::Sender sender("127.0.0.1", 7383, token);  // raw gaze into the gateway: a tracker with protocol = "push"
//   sender.send(seconds, {x, y, z}, head);              // a direction, and where the head points if that is declared
//
// It speaks to this machine, unencrypted, and does not check Sec-WebSocket-Accept: it knows whom it asked. Everything
// that goes wrong is a gazeveil::Error with the gateway's own words. No object may be used by two threads at once.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <locale>
#include <optional>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#ifdef _WIN32
#include <winsock2.h>
#include <ws2tcpip.h>
#pragma comment(lib, "ws2_32.lib")
#else
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#endif

namespace gazeveil {

using Vector = std::array<double, 3>;

struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// One veiled sample. Missing numbers are NaN. x and y are what the greeting's unit says: shares of the screen from its
// top left corner, or degrees to the right and down; head_yaw and head_pitch are degrees to the right and down.
struct Sample {
    double t, x, y;
    bool valid;
    double head_yaw, head_pitch;
};

// Returns the text of a field of one of the gateway's messages, empty if it has none. Only for these messages, which
// have every name once.
inline std::string_view field(std::string_view message, std::string_view name) {
    const auto quoted = '"' + std::string(name) + "\":";
    auto at = message.find(quoted);
    if (at == std::string_view::npos) return {};
    at = message.find_first_not_of(' ', at + quoted.size());
    if (at == std::string_view::npos) return {};
    if (message[at] != '"') return message.substr(at, message.find_first_of(",}]", at) - at);
    auto end = at + 1;
    while (end < message.size() && message[end] != '"') end += message[end] == '\\' ? 2 : 1;
    return end < message.size() ? message.substr(at + 1, end - at - 1) : std::string_view{};
}

inline double number(std::string_view message, std::string_view name) {
    const auto text = field(message, name);
    double value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    return fault == std::errc() && end != text.data() ? value : std::numeric_limits<double>::quiet_NaN();
}

// A WebSocket of text messages, as a client.
class Socket {
public:
    Socket(const std::string& host, int port) {
#ifdef _WIN32
        WSADATA data;
        WSAStartup(MAKEWORD(2, 2), &data);
#endif
        addrinfo wanted{}, *found = nullptr;
        wanted.ai_socktype = SOCK_STREAM;
        if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found) != 0) throw Error("no such host");
        handle_ = socket(found->ai_family, found->ai_socktype, found->ai_protocol);
        const bool connected = connect(handle_, found->ai_addr, static_cast<Length>(found->ai_addrlen)) == 0;
        freeaddrinfo(found);
        if (!connected) {
            shut();
            throw Error("nobody listens at " + host + ":" + std::to_string(port));
        }
        try {
            write("GET / HTTP/1.1\r\nHost: " + host + ":" + std::to_string(port) +
                  "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                  "Sec-WebSocket-Key: " + key() + "\r\nSec-WebSocket-Version: 13\r\n\r\n");
            std::string head;
            while (head.size() < 4 || head.compare(head.size() - 4, 4, "\r\n\r\n") != 0) {
                head += read(1);
                if (head.size() > 8192) throw Error("no answer to the handshake");
            }
            if (head.compare(0, 12, "HTTP/1.1 101") != 0) throw Error("refused: " + head.substr(0, head.find('\r')));
        } catch (...) {
            shut();
            throw;
        }
    }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    ~Socket() { shut(); }

    void send(std::string_view text) { frame(0x1, text); }

    // Returns the next text; nothing when the gateway has closed, and then reason() says why.
    std::optional<std::string> receive() {
        std::string whole;
        for (;;) {
            const auto head = read(2);
            const int opcode = byte(head, 0) & 0x0F;
            std::uint64_t size = byte(head, 1) & 0x7F;
            if (size >= 126) {
                const auto longer = read(size == 126 ? 2 : 8);
                size = 0;
                for (std::size_t i = 0; i < longer.size(); ++i) size = size << 8 | byte(longer, i);
            }
            if (size > kMost || whole.size() + size > kMost) throw Error("a message is too long");
            auto payload = read(static_cast<std::size_t>(size));
            if (opcode == 0x8) {
                reason_ = payload.size() > 2 ? payload.substr(2) : "closed";
                return std::nullopt;
            }
            if (opcode == 0x9) frame(0xA, payload);  // a ping: answer, or be dropped
            if (opcode > 0x2) continue;
            whole += payload;
            if (byte(head, 0) & 0x80) return whole;
        }
    }

    // Whether there is something to receive.
    bool waiting() const {
#ifdef _WIN32
        WSAPOLLFD one{handle_, POLLRDNORM, 0};
        return WSAPoll(&one, 1, 0) > 0;
#else
        pollfd one{handle_, POLLIN, 0};
        return poll(&one, 1, 0) > 0;
#endif
    }

    const std::string& reason() const { return reason_; }

private:
#ifdef _WIN32
    using Handle = SOCKET;
    using Length = int;
    static constexpr int kQuiet = 0;
    void shut() { closesocket(handle_); WSACleanup(); }
#else
    using Handle = int;
    using Length = socklen_t;
#ifdef MSG_NOSIGNAL
    static constexpr int kQuiet = MSG_NOSIGNAL;
#else
    static constexpr int kQuiet = 0;
#endif
    void shut() { close(handle_); }
#endif
    static constexpr std::size_t kMost = 1 << 20;

    static unsigned byte(const std::string& bytes, std::size_t at) { return static_cast<unsigned char>(bytes[at]); }

    std::string key() {
        static constexpr char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        std::string made;
        for (int i = 0; i < 21; ++i) made += letters[random_() & 63];
        return made + "A==";  // 16 bytes in base64
    }

    void frame(int opcode, std::string_view text) {
        std::string made{static_cast<char>(0x80 | opcode)};
        if (text.size() < 126) {
            made += static_cast<char>(0x80 | text.size());
        } else if (text.size() < 1 << 16) {
            made += {static_cast<char>(0xFE), static_cast<char>(text.size() >> 8), static_cast<char>(text.size())};
        } else {
            throw Error("a message is at most 64 KiB long");
        }
        const std::uint32_t word = random_();
        std::array<char, 4> mask{};
        for (unsigned i = 0; i < 4; ++i) mask[i] = static_cast<char>(word >> (8 * i));
        made.append(mask.data(), mask.size());
        for (std::size_t i = 0; i < text.size(); ++i) made += static_cast<char>(text[i] ^ mask[i % 4]);
        write(made);
    }

    void write(const std::string& bytes) {
        for (std::size_t done = 0; done < bytes.size();) {
            const auto sent = ::send(handle_, bytes.data() + done, static_cast<int>(bytes.size() - done), kQuiet);
            if (sent <= 0) throw Error("the gateway hung up");
            done += static_cast<std::size_t>(sent);
        }
    }

    std::string read(std::size_t count) {
        std::string bytes(count, '\0');
        for (std::size_t done = 0; done < count;) {
            const auto got = ::recv(handle_, bytes.data() + done, static_cast<int>(count - done), 0);
            if (got <= 0) throw Error("the gateway hung up");
            done += static_cast<std::size_t>(got);
        }
        return bytes;
    }

    Handle handle_{};
    std::random_device random_;
    std::string reason_;
};

// Reads veiled gaze.
class Reader {
public:
    Reader(const std::string& host, int port) : socket_(host, port) {}

    // Returns the next sample, whenever it comes; nothing when the stream has ended. Silences come as no sample.
    std::optional<Sample> next() {
        while (auto text = socket_.receive()) {
            const auto type = field(*text, "type");
            if (type == "hello") guarantee_ = field(*text, "guarantee");
            if (type == "end") reason_ = field(*text, "reason");
            if (!type.empty()) continue;
            return Sample{number(*text, "t"), number(*text, "x"), number(*text, "y"),
                          field(*text, "valid") == "true", number(*text, "yaw"), number(*text, "pitch")};
        }
        return std::nullopt;
    }

    // What is guaranteed, in words; and why the stream ended.
    const std::string& guarantee() const { return guarantee_; }
    const std::string& reason() const { return reason_.empty() ? socket_.reason() : reason_; }

private:
    Socket socket_;
    std::string guarantee_, reason_;
};

// Sends raw gaze to the gateway. The policy names the fields: direction = "gaze", and head = "head" if that is sent.
class Sender {
public:
    Sender(const std::string& host, int port, const std::string& token) : socket_(host, port) {
        socket_.send("{\"token\":\"" + token + "\"}");
        listen();
    }

    // Sends one sample: seconds of any clock that goes on; a direction in the axes of the policy, or nothing while gaze
    // is missing; where the head points in the world, in the same axes, or nothing if that is not known.
    void send(double seconds, const std::optional<Vector>& gaze, const std::optional<Vector>& head = std::nullopt) {
        while (socket_.waiting()) listen();  // warnings, and pings
        std::ostringstream text;
        text.imbue(std::locale::classic());  // a comma is no decimal point in JSON
        text.precision(9);
        text << std::fixed << "{\"t\":" << seconds << ",\"gaze\":";
        write(text, gaze);
        text << ",\"head\":";
        write(text, head);
        text << '}';
        socket_.send(text.str());
    }

    // What the gateway warned of last; empty if it did not.
    const std::string& warning() const { return warning_; }

private:
    void listen() {
        const auto text = socket_.receive();
        if (!text) throw Error(socket_.reason());
        if (!field(*text, "error").empty()) throw Error(std::string(field(*text, "message")));
        if (!field(*text, "warning").empty()) warning_ = field(*text, "message");
    }

    static void write(std::ostream& text, const std::optional<Vector>& vector) {
        if (!vector || !std::isfinite((*vector)[0] + (*vector)[1] + (*vector)[2])) {
            text << "null";
        } else {
            text << '[' << (*vector)[0] << ',' << (*vector)[1] << ',' << (*vector)[2] << ']';
        }
    }

    Socket socket_;
    std::string warning_;
};

}  // namespace gazeveil
