// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
//
// Tries the C# client on a gateway: `send PORT TOKEN` sends until it is stopped, `read PORT COUNT` prints samples.
using System;
using System.Diagnostics;
using System.Globalization;
using System.Threading;

static class Program
{
    static int Main(string[] words)
    {
        CultureInfo.CurrentCulture = new CultureInfo("de-DE", false);  // whose decimal point is a comma
        try { if (words[0] == "send") Send(words[1], words[2]); else Read(words[1], int.Parse(words[2])); }
        catch (GazeveilException error) { Console.WriteLine("error " + error.Message); return 1; }
        return 0;
    }

    static void Send(string port, string token)
    {
        using (var sender = new GazeveilSender())
        {
            sender.ConnectAsync("ws://127.0.0.1:" + port, token, CancellationToken.None).GetAwaiter().GetResult();
            var clock = Stopwatch.StartNew();
            GazeveilVector gaze = new GazeveilVector(0.123456, 0, 1), head = new GazeveilVector(0, 0, 1);
            for (var n = 0; ; ++n)
            {
                var seen = n % 10 == 9 ? (GazeveilVector?)null : gaze;
                sender.SendAsync(clock.Elapsed.TotalSeconds, seen, head, CancellationToken.None).GetAwaiter().GetResult();
                Thread.Sleep(10);
            }
        }
    }

    static void Read(string port, int count)
    {
        var stop = new CancellationTokenSource();
        var reader = new GazeveilReader();
        reader.Sample += s =>
        {
            if (count-- > 0) Console.WriteLine(string.Format(CultureInfo.InvariantCulture,
                "{0:F6} {1:F6} {2:F6} {3} {4:F6} {5:F6}", s.T, s.X, s.Y, s.Valid ? 1 : 0, s.HeadYaw, s.HeadPitch));
            if (count <= 0) stop.Cancel();
        };
        try { reader.RunAsync("ws://127.0.0.1:" + port, stop.Token).GetAwaiter().GetResult(); }
        catch (OperationCanceledException) { }
        Console.WriteLine("guarantee " + reader.Guarantee);
    }
}
