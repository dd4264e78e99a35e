// The pictures of a folder that a model is least sure of.

const view = JSON.parse(document.getElementById("data").textContent);
document.querySelector("h1").textContent = view.title;
document.getElementById("subtitle").textContent = view.about;
document.getElementById("content").append(gallery({ title: "Least sure first", note: "File, class and confidence; pictures as the model sees them.", groups: [{ pictures: view.pictures }] }));
