// Starts `ptxtool lsp` for PTX and PTXPlus files; everything else is the server's.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function start() {
  const [command, ...args] = vscode.workspace.getConfiguration("ptxtool").get("command");
  client = new LanguageClient(
    "ptxtool",
    "ptxtool",
    { command, args },
    { documentSelector: [{ language: "ptx" }] },
  );
  try {
    await client.start();
  } catch (problem) {
    vscode.window.showErrorMessage(
      `ptxtool: '${command}' does not start (${problem.message}). ` +
        "Install it with: pip install 'ptxtool[lsp]', or set ptxtool.command.",
    );
  }
}

async function stop() {
  const running = client;
  client = undefined;
  if (running && running.needsStop()) {
    await running.stop();
  }
}

async function restart() {
  await stop();
  await start();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("ptxtool.restart", restart),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("ptxtool.command")) {
        restart();
      }
    }),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
