// The playground in the start page says how high it is.
addEventListener("message", ({ data, source }) => {
  const frame = document.querySelector("iframe.playground");
  if (frame?.contentWindow === source && data.height > 0) frame.style.height = `${Math.ceil(data.height)}px`;
});
