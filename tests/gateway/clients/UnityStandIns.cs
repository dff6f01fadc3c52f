// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
//
// Just enough of Unity's types, by their documented names, for a compiler to check the part of the client that is for
// Unity. Nothing here does anything.
namespace UnityEngine
{
    public struct Vector3
    {
        public float x, y, z;
        public static Vector3 operator -(Vector3 a, Vector3 b) { return a; }
    }
    public struct Quaternion
    {
        public static Quaternion Inverse(Quaternion q) { return q; }
        public static Vector3 operator *(Quaternion q, Vector3 v) { return v; }
    }
    public class Transform
    {
        public Quaternion localRotation { get; set; }
        public Vector3 localPosition { get; set; }
        public Vector3 forward { get; set; }
    }
    public class MonoBehaviour { public bool enabled { get; set; } }
    public class Camera { public static Camera main { get { return null; } } public Transform transform { get { return null; } } }
    public static class Time { public static float realtimeSinceStartup { get { return 0; } } }
    public static class Debug { public static void LogError(object message) { } }
}
namespace UnityEngine.XR
{
    public enum XRNode { CenterEye }
    public struct Eyes { public bool TryGetFixationPoint(out Vector3 point) { point = new Vector3(); return false; } }
    public struct InputFeatureUsage<T> { }
    public static class CommonUsages { public static InputFeatureUsage<Eyes> eyesData; }
    public struct InputDevice
    {
        public bool TryGetFeatureValue(InputFeatureUsage<Eyes> usage, out Eyes value) { value = new Eyes(); return false; }
    }
    public static class InputDevices
    {
        public static InputDevice GetDeviceAtXRNode(XRNode node) { return new InputDevice(); }
    }
}
