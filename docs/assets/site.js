// Copying a session copies what was typed: no prompts, no answers.
document.addEventListener("click", (event) => {
  const button = event.target.closest?.(".language-pycon .md-clipboard, .language-pycon .md-code__button");
  if (!button) return;
  const code = button.closest(".language-pycon").querySelector("code");
  const typed = code.innerText.split("\n").filter((line) => /^(>>>|\.\.\.)( |$)/.test(line));
  button.setAttribute("data-clipboard-text", typed.map((line) => line.slice(4)).join("\n"));
}, true);
