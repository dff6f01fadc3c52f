// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
//
// A client of a gazeveil gateway in one file, for Unity or any .NET program. No other package is needed.
//
//   var reader = new GazeveilReader();                      // veiled gaze: an app with protocol = "websocket"
//   reader.Sample += s => ...;                              // on another thread: put it into a queue for Update()
//   await reader.RunAsync("ws://127.0.0.1:7381", stop);
//
//   var sender = new GazeveilSender();                      // raw gaze into the gateway: protocol = "push"
//   await sender.ConnectAsync("ws://127.0.0.1:7383", token, stop);
//   await sender.SendAsync(seconds, direction, head, stop); // a direction, and where the head points if declared
//
// Everything that goes wrong is a GazeveilException with the gateway's own words.
using System;
using System.Globalization;
using System.IO;
using System.Net.WebSockets;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading;
using System.Threading.Tasks;

public class GazeveilException : Exception
{
    public GazeveilException(string message) : base(message) { }
}

/// <summary>One veiled sample. Missing numbers are NaN. X and Y are in the greeting's unit: shares of the screen from its
/// top left corner, or degrees to the right and down. The head's angles are degrees to the right and down.</summary>
public struct GazeveilSample
{
    public double T, X, Y, HeadYaw, HeadPitch;
    public bool Valid;
}

/// <summary>A direction, in the axes of the policy.</summary>
public struct GazeveilVector
{
    public double X, Y, Z;
    public GazeveilVector(double x, double y, double z) { X = x; Y = y; Z = z; }
}

/// <summary>Text messages over a WebSocket, which answers pings while somebody waits for a message.</summary>
static class GazeveilTexts
{
    const int Most = 1 << 20;

    public static Task SendAsync(WebSocket socket, string text, CancellationToken stop)
    {
        var bytes = new ArraySegment<byte>(Encoding.UTF8.GetBytes(text));
        return socket.SendAsync(bytes, WebSocketMessageType.Text, true, stop);
    }

    /// <summary>Returns the next text; null when the gateway has closed.</summary>
    public static async Task<string> ReceiveAsync(WebSocket socket, CancellationToken stop)
    {
        var buffer = new ArraySegment<byte>(new byte[4096]);
        using (var whole = new MemoryStream())
        {
            while (true)
            {
                var part = await socket.ReceiveAsync(buffer, stop).ConfigureAwait(false);
                if (part.MessageType == WebSocketMessageType.Close) return null;
                whole.Write(buffer.Array, 0, part.Count);
                if (whole.Length > Most) throw new GazeveilException("a message is too long");
                if (part.EndOfMessage) return Encoding.UTF8.GetString(whole.ToArray());
            }
        }
    }

    /// <summary>Returns a text of one of the gateway's messages, which have every name once; null if it has none.</summary>
    public static string Field(string message, string name)
    {
        var found = Regex.Match(message, "\"" + name + "\": ?\"((?:[^\"\\\\]|\\\\.)*)\"");
        return found.Success ? Regex.Unescape(found.Groups[1].Value) : null;
    }

    public static double Number(string message, string name)
    {
        var found = Regex.Match(message, "\"" + name + "\": ?(-?[0-9.eE+-]+)");
        double value;
        return found.Success && double.TryParse(found.Groups[1].Value, NumberStyles.Float, CultureInfo.InvariantCulture,
            out value) ? value : double.NaN;
    }
}

/// <summary>Reads veiled gaze.</summary>
public class GazeveilReader
{
    public event Action<GazeveilSample> Sample;
    /// <summary>Is called when there is no gaze at present.</summary>
    public event Action Silence;
    /// <summary>What is guaranteed, in words; known after the greeting.</summary>
    public string Guarantee { get; private set; }

    /// <summary>Reads until the stream ends, and returns why it ended.</summary>
    public async Task<string> RunAsync(string address, CancellationToken stop)
    {
        using (var socket = new ClientWebSocket())
        {
            await socket.ConnectAsync(new Uri(address), stop).ConfigureAwait(false);
            var reason = "closed";
            string text;
            while ((text = await GazeveilTexts.ReceiveAsync(socket, stop).ConfigureAwait(false)) != null)
            {
                var type = GazeveilTexts.Field(text, "type");
                if (type == "hello") Guarantee = GazeveilTexts.Field(text, "guarantee");
                else if (type == "end") reason = GazeveilTexts.Field(text, "reason");
                else if (type == "silence" && Silence != null) Silence();
                else if (type == null && Sample != null) Sample(Parsed(text));
            }
            return reason;
        }
    }

    static GazeveilSample Parsed(string text)
    {
        return new GazeveilSample
        {
            T = GazeveilTexts.Number(text, "t"),
            X = GazeveilTexts.Number(text, "x"),
            Y = GazeveilTexts.Number(text, "y"),
            HeadYaw = GazeveilTexts.Number(text, "yaw"),
            HeadPitch = GazeveilTexts.Number(text, "pitch"),
            Valid = text.Contains("\"valid\":true"),
        };
    }
}

/// <summary>Sends raw gaze to the gateway. The policy names the fields: direction = "gaze", and head = "head" if that is
/// sent. One sample at a time: wait for SendAsync before the next.</summary>
public class GazeveilSender : IDisposable
{
    readonly ClientWebSocket socket = new ClientWebSocket();
    Task<string> ended;

    /// <summary>What the gateway warned of last; null if it did not.</summary>
    public string Warning { get; private set; }

    public async Task ConnectAsync(string address, string token, CancellationToken stop)
    {
        await socket.ConnectAsync(new Uri(address), stop).ConfigureAwait(false);
        await GazeveilTexts.SendAsync(socket, "{\"token\":\"" + token + "\"}", stop).ConfigureAwait(false);
        var answer = await GazeveilTexts.ReceiveAsync(socket, stop).ConfigureAwait(false);
        if (answer == null || !answer.Contains("\"ok\"")) throw new GazeveilException(Told(answer));
        ended = ListenAsync(stop);  // pings are answered while somebody listens
    }

    /// <summary>Sends one sample: seconds of any clock that goes on; null for gaze that is missing, and for a head that
    /// is not known.</summary>
    public Task SendAsync(double seconds, GazeveilVector? gaze, GazeveilVector? head, CancellationToken stop)
    {
        if (ended.IsCompleted) throw new GazeveilException(ended.Result);
        var text = "{\"t\":" + Json(seconds) + ",\"gaze\":" + Json(gaze) + ",\"head\":" + Json(head) + "}";
        return GazeveilTexts.SendAsync(socket, text, stop);
    }

    public void Dispose() { socket.Dispose(); }

    async Task<string> ListenAsync(CancellationToken stop)
    {
        while (true)
        {
            string text;
            try { text = await GazeveilTexts.ReceiveAsync(socket, stop).ConfigureAwait(false); }
            catch (Exception error) { return error.Message; }
            if (text == null || GazeveilTexts.Field(text, "error") != null) return Told(text);
            if (GazeveilTexts.Field(text, "warning") != null) Warning = Told(text);
        }
    }

    string Told(string text)
    {
        return (text == null ? socket.CloseStatusDescription : GazeveilTexts.Field(text, "message")) ?? "closed";
    }

    static string Json(double value)
    {
        return value.ToString("F9", CultureInfo.InvariantCulture);  // a comma is no decimal point in JSON
    }

    static string Json(GazeveilVector? vector)
    {
        if (vector == null || double.IsNaN(vector.Value.X + vector.Value.Y + vector.Value.Z)) return "null";
        return "[" + Json(vector.Value.X) + "," + Json(vector.Value.Y) + "," + Json(vector.Value.Z) + "]";
    }
}

#if UNITY_5_3_OR_NEWER
/// <summary>Put it on any object: it sends the eyes' direction in the head's frame, and where the head points, to the
/// gateway once a frame. The policy has direction = "gaze", head = "head" and axes = "unity".</summary>
public class GazeveilEyes : UnityEngine.MonoBehaviour
{
    public string address = "ws://127.0.0.1:7383";
    public string tokenFile = "";
    readonly GazeveilSender sender = new GazeveilSender();
    readonly CancellationTokenSource stop = new CancellationTokenSource();
    Task last = Task.CompletedTask;
    bool connected;

    async void Start()
    {
        try { await sender.ConnectAsync(address, File.ReadAllText(tokenFile).Trim(), stop.Token); connected = true; }
        catch (Exception error) { GiveUp(error); }
    }

    void Update()
    {
        if (!connected || !last.IsCompleted) return;
        var tracker = UnityEngine.XR.InputDevices.GetDeviceAtXRNode(UnityEngine.XR.XRNode.CenterEye);
        var camera = UnityEngine.Camera.main.transform;
        UnityEngine.XR.Eyes eyes;
        UnityEngine.Vector3 point;
        GazeveilVector? gaze = null;
        if (tracker.TryGetFeatureValue(UnityEngine.XR.CommonUsages.eyesData, out eyes)
            && eyes.TryGetFixationPoint(out point))
        {
            // the point is in tracking space, and so are the camera's local place and turn: this is the head's frame
            var back = UnityEngine.Quaternion.Inverse(camera.localRotation);
            gaze = Plain(back * (point - camera.localPosition));
        }
        try
        {
            if (last.IsFaulted) throw last.Exception.GetBaseException();
            last = sender.SendAsync(UnityEngine.Time.realtimeSinceStartup, gaze, Plain(camera.forward), stop.Token);
        }
        catch (Exception error) { GiveUp(error); }
    }

    void GiveUp(Exception error)
    {
        connected = enabled = false;
        UnityEngine.Debug.LogError("gazeveil: " + error.Message);
    }

    void OnDestroy() { stop.Cancel(); sender.Dispose(); }

    static GazeveilVector Plain(UnityEngine.Vector3 v) { return new GazeveilVector(v.x, v.y, v.z); }
}
#endif
