#!/usr/bin/env node
// Built into dist/main.js, the path of the program for users: the folders beside it may change.
import './src/main.ts';
