"""The Blender side: conversion of scene data, operators, panels and overlays. The solver does the mathematics."""
